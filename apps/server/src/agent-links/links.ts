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
import { CruxError } from '@crux/contract'

/** One field of ConnectResponse.command, as `{ case, value }`. */
export type Command = Exclude<
  NonNullable<MessageInitShape<typeof ConnectResponseSchema>['command']>,
  { case: undefined; value?: undefined }
>
export type CommandOf<C extends Command['case']> = Extract<Command, { case: C }>
/** What an agent answered. Failures are not included: they are thrown as a CruxError. */
export type CommandResult = Exclude<RespondRequest['result'], { case: 'failure' } | { case: undefined }>

/** The agent at the other end of a link of this process. */
export type LinkedAgent = { nodeId: string; teamId: string; nodeName: string; info: AgentInfo }

/** The status as this process sees it: `unreachable` also when another server process holds the link. */
export type LinkStatus = 'connected' | 'outdated' | 'updating' | 'unreachable'

/**
 * A stream that an agent was asked for. `close` is idempotent and notifies the agent; nothing is delivered after it.
 */
export type AgentStream = { close(): void }
export type StreamHandler<M> = {
  /** The next message is read once this has resolved, so that a slow reader slows the agent down. */
  message(message: M): void | Promise<void>
  /**
   * Called once, unless the server closed the stream: the agent ended it (no error), or the link or the request failed.
   */
  ended(error?: Error): void
}
export type LogBatch = { lines: LogLine[] }

/** The agents that this server process holds a link to. */
export interface NodeLinks {
  /** Identifies this process in node.link_server; a new id for every start. */
  readonly serverId: string
  status(nodeId: string): LinkStatus
  agent(nodeId: string): LinkedAgent | undefined
  /** The node ids of all links of this process, including those of outdated agents. */
  held(): string[]

  /**
   * Dispatches a release. @returns false when this process has no link that takes commands; the caller publishes
   * `node.work` or waits for `linked`
   */
  deploy(nodeId: string, release: MessageInitShape<typeof ReleaseSchema>): boolean
  cancel(nodeId: string, release: MessageInitShape<typeof ReleaseKeySchema>): boolean
  /** Sends a command that has no answer. @returns false as `deploy` */
  send(nodeId: string, command: Command): boolean
  /**
   * Sends a command that has an answer.
   *
   * @throws CruxError notFound `agent` (offline), preconditionFailed `id` (outdated), serviceUnavailable (the link is
   *   at another server process, or no answer in time), notFound `key` (no such container), preconditionFailed `key`
   *   (the engine refuses), badGateway `agent` (another kind of answer than the command has, or one that cannot be
   *   used)
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

  /** Reports links of this process that start (after Welcome) and end. @returns the function that unsubscribes */
  onLinked(heard: (agent: LinkedAgent) => void): () => void
  onLinkLost(heard: (agent: LinkedAgent) => void): () => void
  /** Ends the link of a node if this process has it, with all of its streams and pending answers. */
  close(nodeId: string, reason: 'shutdown' | 'token-revoked'): void
}

/** What the gateway needs of deployments. releases/agent-port.ts implements it, and the composition passes it in. */
export interface DeploymentPort {
  /**
   * Called before Welcome. Returns the position for each release of `info.openReleases` whose further events the server
   * wants; the agent drops the others. Not called for outdated agents. An error ends the link, and the agent tries
   * again.
   */
  positions(agent: LinkedAgent): Promise<MessageInitShape<typeof JournalPositionSchema>[]>
  /**
   * Called before Welcome when the node has another key than before and cannot read what was encrypted for the previous
   * one.
   */
  keyChanged(agent: LinkedAgent): Promise<void>
  /** Called after Welcome to dispatch the releases that wait for this node. */
  linked(agent: LinkedAgent): void
  linkLost(agent: LinkedAgent): void
  /**
   * Stores a batch of a release's journal. Resolves, after the commit, with the highest sequence stored. The port
   * checks that the release belongs to `agent.nodeId`. For an unknown release it returns the batch's last sequence, so
   * that the agent drops the release.
   */
  report(agent: { nodeId: string; teamId: string }, batch: ReportDeploymentRequest): Promise<bigint>
}

/** An answer that does not belong to its command, or that has values that cannot be used. */
export const unusableAnswer = (cause?: unknown): CruxError => new CruxError('badGateway', { property: 'agent', cause })
