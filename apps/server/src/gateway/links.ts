import type { MessageInitShape } from '@bufbuild/protobuf'
import type {
  AgentInfo,
  ConnectResponseSchema,
  JournalPositionSchema,
  LogLine,
  ReleaseKeySchema,
  ReleaseSchema,
  ReportDeploymentRequest,
  RespondRequest,
  ScopeSchema,
  StreamContainersRequest,
} from '@crux/agent-protocol'

/** One field of ConnectResponse.command, as `{ case, value }`. */
export type Command = Exclude<
  NonNullable<MessageInitShape<typeof ConnectResponseSchema>['command']>,
  { case: undefined; value?: undefined }
>
export type CommandOf<C extends Command['case']> = Extract<Command, { case: C }>
/** What an agent answered; a failure never gets here, it is thrown as a CruxError. */
export type CommandResult = Exclude<RespondRequest['result'], { case: 'failure' } | { case: undefined }>

/** The agent at the other end of a link of this process. */
export type LinkedAgent = { nodeId: string; teamId: string; nodeName: string; info: AgentInfo }

/** As this process sees it: `unreachable` also when another server process holds the link. */
export type LinkStatus = 'connected' | 'outdated' | 'unreachable'

/** A stream that an agent was asked for. `close` is idempotent and tells the agent; nothing is delivered after it. */
export type AgentStream = { close(): void }
export type StreamHandler<M> = {
  /** The next message is read once this has resolved: that is how a slow reader slows the agent down. */
  message(message: M): void | Promise<void>
  /** Once, unless we closed it ourselves: by the agent (no error), or because the link or the request failed. */
  ended(error?: Error): void
}
export type LogBatch = { lines: LogLine[] }

/** The agents that this server process holds a link to. */
export interface NodeLinks {
  /** Identifies this process in node.link_server. New at every start. */
  readonly serverId: string
  status(nodeId: string): LinkStatus
  agent(nodeId: string): LinkedAgent | undefined
  /** Node ids of all links of this process, outdated agents included. */
  held(): string[]

  /** Hands a release over. False: no link here that takes commands; the caller publishes `node.work` or waits for `linked`. */
  deploy(nodeId: string, release: MessageInitShape<typeof ReleaseSchema>): boolean
  cancel(nodeId: string, release: MessageInitShape<typeof ReleaseKeySchema>): boolean
  /** A command without an answer. False: as `deploy`. */
  send(nodeId: string, command: Command): boolean
  /**
   * A command with an answer.
   *
   * @throws CruxError notFound `agent` (offline), preconditionFailed `id` (outdated), serviceUnavailable (the link is at another
   * server process, or no answer in time), notFound `key` (no such container), preconditionFailed `key` (the engine refuses),
   * badGateway `agent` (another kind of answer than the command has, or one that cannot be used)
   */
  request(nodeId: string, command: Command, timeoutMs?: number): Promise<CommandResult>
  /** @throws CruxError as `request`, when there is no usable link; later failures arrive at `ended` */
  watchContainers(
    nodeId: string,
    scope: MessageInitShape<typeof ScopeSchema>,
    handler: StreamHandler<StreamContainersRequest>,
  ): Promise<AgentStream>
  followLog(
    nodeId: string,
    log: Omit<NonNullable<CommandOf<'followLog'>['value']>, 'streamId' | '$typeName' | '$unknown'>,
    handler: StreamHandler<LogBatch>,
  ): Promise<AgentStream>

  /** Links of this process that begin (after Welcome) and end. Returns the way to unsubscribe. */
  onLinked(heard: (agent: LinkedAgent) => void): () => void
  onLinkLost(heard: (agent: LinkedAgent) => void): () => void
  /** Ends the link of a node if it is here, with all of its streams and pending answers. */
  close(nodeId: string, reason: 'shutdown' | 'token-revoked'): void
}

/** What the gateway asks of deployments. Implemented by deployments/agent-port.ts and put in at composition. */
export interface DeploymentPort {
  /**
   * Before Welcome: the position for each release of `info.openReleases` that the server wants to hear more of. Others are
   * dropped by the agent. Not called for outdated agents. A throw ends the link, and the agent tries again.
   */
  positions(agent: LinkedAgent): Promise<MessageInitShape<typeof JournalPositionSchema>[]>
  /** Before Welcome: the node came with another key than before, and cannot read what was sealed for that one. */
  keyChanged(agent: LinkedAgent): Promise<void>
  /** After Welcome: hand over what waits for this node. */
  linked(agent: LinkedAgent): void
  linkLost(agent: LinkedAgent): void
  /**
   * A batch of a release's journal. Resolves, after the commit, with the highest sequence stored. The port checks that the
   * release belongs to `agent.nodeId`; for a release that is not known (any more) it answers the batch's last sequence, so that the agent forgets it.
   */
  report(agent: { nodeId: string; teamId: string }, batch: ReportDeploymentRequest): Promise<bigint>
}
