import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2'
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect'
import { connectNodeAdapter } from '@connectrpc/connect-node'
import {
  type AgentInfo,
  AgentService,
  type ConnectResponse,
  ConnectResponseSchema,
  type Container,
  type DeploymentEvent,
  type LogLine,
  type Outcome,
  type Release,
  type ReleaseKey,
  type RespondRequest,
  type ScopeSchema,
  UpdateStage,
  UpdateState,
  type WelcomeSchema,
} from '@crux/agent-protocol'
import { waitUntil } from './wait-until.ts'

type CommandInit = NonNullable<MessageInitShape<typeof ConnectResponseSchema>['command']>

/** Commands that carry a scope. */
const scoped: ReadonlySet<string> = new Set([
  'operateContainer',
  'deleteContainers',
  'listContainers',
  'inspectContainer',
  'readLog',
  'watchContainers',
  'followLog',
  'listImages',
  'findDrift',
  'listMachines',
  'findPrefixData',
  'deletePrefixData',
])

/** The server's side of the agent protocol, as simple as possible: tokens, one link, and everything it received. */
export class FakeServer {
  readonly installTokens = new Set<string>()
  readonly connectionTokens = new Set<string>()
  /** Rotated and not confirmed: token to the one that it replaces. */
  readonly pendingTokens = new Map<string, string>()
  readonly links: AgentInfo[] = []
  readonly responses = new Map<string, RespondRequest>()
  readonly containerUpdates: { streamId: string; full: boolean; containers: Container[]; at: number }[] = []
  readonly logLines = new Map<string, LogLine[]>()
  readonly logFailures = new Map<string, string>()
  readonly events = new Map<string, DeploymentEvent[]>()
  /** Positions for the next Welcome, in addition to those of the open releases. */
  readonly abandoned = new Set<string>()
  /** Reports of releases are refused while this is set. */
  refuseReports = false
  /** The node of install tokens whose agent does not send its id. */
  nodeId = 'node-of-the-token'
  port = 0
  /** The team's deleted nodes, which the Welcome of each link contains. */
  deletedNodeIds: string[] = []
  /** The update in progress; the path is the file of the new agent's image. */
  update: { id: string; token: string; imagePath: string; state: UpdateState; error: string } | undefined
  /** Added to every command that needs one and has none. */
  scope: MessageInitShape<typeof ScopeSchema> | undefined
  #server: Http2Server | undefined
  readonly #sessions = new Set<ServerHttp2Session>()
  readonly #answered = new Map<string, () => void>()
  #push: ((message: ConnectResponse) => void) | undefined
  #endLink: (() => void) | undefined

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get connected(): boolean {
    return this.#push !== undefined
  }

  async start(): Promise<void> {
    const server = createServer(
      connectNodeAdapter({ routes: (router) => router.service(AgentService, this.#service()) }),
    )
    server.on('session', (session) => {
      this.#sessions.add(session)
      session.on('close', () => this.#sessions.delete(session))
    })
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve))
    const address = server.address()
    if (typeof address === 'object' && address) this.port = address.port
    this.#server = server
  }

  /** Cuts every connection at once, as a killed server does; `start` serves at the same port again. */
  async stop(): Promise<void> {
    this.#endLink?.()
    for (const session of this.#sessions) session.destroy()
    await new Promise<void>((resolve) => (this.#server ? this.#server.close(() => resolve()) : resolve()))
    this.#server = undefined
  }

  /** Ends the link with an error, but keeps serving. */
  cutLink(): void {
    for (const session of this.#sessions) session.destroy()
  }

  newInstallToken(): string {
    const token = `crux_install_${randomUUID()}`
    this.installTokens.add(token)
    return token
  }

  waitForLink(): Promise<AgentInfo> {
    return waitUntil('the agent connects', () => (this.connected ? this.links.at(-1) : undefined))
  }

  /** @returns the id of the command */
  send(command: CommandInit, commandId: string = randomUUID()): string {
    if (!this.#push) throw new Error('no agent is connected')
    this.#push(create(ConnectResponseSchema, { commandId, command: this.#withScope(command) }))
    return commandId
  }

  #withScope(command: CommandInit): CommandInit {
    if (command.case === undefined || !scoped.has(command.case)) return command
    const scope = this.scope ?? { teamId: 'team', nodeId: this.links.at(-1)?.nodeId ?? '' }
    return { ...command, value: { scope, ...command.value } } as CommandInit
  }

  async ask(command: CommandInit, timeoutMs = 30_000): Promise<RespondRequest['result']> {
    const id = this.send(command)
    const answered = new Promise<void>((resolve) => this.#answered.set(id, resolve))
    const late = setTimeout(() => this.#answered.get(id)?.(), timeoutMs)
    await answered
    clearTimeout(late)
    this.#answered.delete(id)
    const response = this.responses.get(id)
    if (!response) throw new Error(`waited ${timeoutMs} ms in vain: an answer to ${command.case}`)
    return response.result
  }

  /** Lines that a release reported, the container's own or the agent's. */
  toLines(release: Release, fromContainer = false): string[] {
    const key = release.key
    return key
      ? this.listEvents(key).flatMap(({ event }) =>
          event.case === 'log' && event.value.fromContainer === fromContainer ? event.value.lines : [],
        )
      : []
  }

  listEvents(key: ReleaseKey): DeploymentEvent[] {
    return this.events.get(toKey(key)) ?? []
  }

  deploy(release: Release): void {
    this.send({ case: 'deploy', value: release })
  }

  /** Sends the release and waits for its end, including the removal of what it replaced. */
  async deployAndWait(release: Release, timeoutMs = 60_000): Promise<Outcome> {
    this.deploy(release)
    return this.getOutcome(release, timeoutMs)
  }

  getOutcome(release: Release, timeoutMs = 60_000): Promise<Outcome> {
    const { key } = release
    if (!key) throw new Error('a release has a key')
    return waitUntil(
      `the outcome of ${toKey(key)}`,
      () => {
        const outcome = this.#reportedOutcome(key)
        const isOver = outcome && (!outcome.successful || this.listEvents(key).at(-1)?.event.case === 'cleanUpEnd')
        return isOver ? outcome : undefined
      },
      timeoutMs,
    )
  }

  /** Waits until the outcome of the release is reported; containers that a success replaced may still exist. */
  waitForOutcome(release: Release, timeoutMs = 60_000): Promise<Outcome> {
    const { key } = release
    if (!key) throw new Error('a release has a key')
    return waitUntil(`the outcome of ${toKey(key)} is reported`, () => this.#reportedOutcome(key), timeoutMs)
  }

  #reportedOutcome(key: ReleaseKey): Outcome | undefined {
    const reported = this.listEvents(key).find(({ event }) => event.case === 'outcome')?.event
    return reported?.case === 'outcome' ? reported.value : undefined
  }

  #getToken(context: HandlerContext): string {
    return context.requestHeader.get('authorization')?.replace(/^Bearer /, '') ?? ''
  }

  #check(context: HandlerContext): void {
    if (!this.connectionTokens.has(this.#getToken(context)))
      throw new ConnectError('unknown token', Code.Unauthenticated)
  }

  #completeUpdate(token: string): void {
    const { update } = this
    if (update?.token !== token || update.state !== UpdateState.CLOSED) return
    update.state = UpdateState.COMPLETED
    this.connectionTokens.clear()
    this.connectionTokens.add(token)
  }

  /** Orders the connected agent to replace itself by the image of the file. */
  startUpdate(imagePath: string): void {
    this.update = {
      id: randomUUID(),
      token: `crux_${randomUUID()}`,
      imagePath,
      state: UpdateState.PREPARING,
      error: '',
    }
    const { id: updateId, token } = this.update
    this.send({ case: 'updateAgent', value: { updateId, token, image: '' } })
  }

  #service() {
    const server = this
    return {
      exchange(request: { info?: AgentInfo }, context: HandlerContext) {
        const token = server.#getToken(context)
        if (!server.installTokens.delete(token)) throw new ConnectError('unknown token', Code.Unauthenticated)
        const connectionToken = `crux_${randomUUID()}`
        server.connectionTokens.add(connectionToken)
        return { connectionToken, nodeId: request.info?.nodeId || server.nodeId }
      },
      confirmToken(_request: unknown, context: HandlerContext) {
        const token = server.#getToken(context)
        const before = server.pendingTokens.get(token)
        if (before !== undefined) {
          server.pendingTokens.delete(token)
          server.connectionTokens.delete(before)
          server.connectionTokens.add(token)
        }
        server.#check(context)
        return {}
      },
      async *connect(request: { info?: AgentInfo }, context: HandlerContext) {
        server.#completeUpdate(server.#getToken(context))
        server.#check(context)
        if (request.info) server.links.push(request.info)
        const queue: ConnectResponse[] = [
          create(ConnectResponseSchema, { command: { case: 'welcome', value: server.#welcome(request.info) } }),
        ]
        let wake: () => void = () => undefined
        const push = (message: ConnectResponse) => {
          queue.push(message)
          wake()
        }
        let ended = false
        const end = () => {
          ended = true
          wake()
        }
        server.#endLink = end
        context.signal.addEventListener('abort', end)
        server.#push = push
        try {
          while (!ended) {
            const next = queue.shift()
            if (next) yield next
            else
              await new Promise<void>((resolve) => {
                wake = resolve
              })
          }
        } finally {
          if (server.#push === push) server.#push = undefined
        }
      },
      reportUpdate(request: { stage: UpdateStage; error: string }, context: HandlerContext) {
        const { update } = server
        if (!update) return { state: UpdateState.FAILED }
        if (update.state !== UpdateState.COMPLETED) server.#check(context)
        if (request.error) Object.assign(update, { state: UpdateState.FAILED, error: request.error })
        else if (request.stage === UpdateStage.CLOSED && update.state === UpdateState.READY)
          update.state = UpdateState.CLOSED
        return { state: update.state }
      },
      takeOver(_request: unknown, context: HandlerContext) {
        const { update } = server
        if (!update || server.#getToken(context) !== update.token)
          throw new ConnectError('unknown token', Code.Unauthenticated)
        if (update.state === UpdateState.PREPARING) update.state = UpdateState.READY
        return { state: update.state }
      },
      async *downloadAgentImage(_request: unknown, context: HandlerContext) {
        server.#check(context)
        for await (const chunk of createReadStream(server.update?.imagePath ?? '')) yield { chunk }
      },
      respond(request: RespondRequest, context: HandlerContext) {
        server.#check(context)
        server.responses.set(request.commandId, request)
        server.#answered.get(request.commandId)?.()
        return {}
      },
      reportDeployment(request: { release?: ReleaseKey; events: DeploymentEvent[] }, context: HandlerContext) {
        server.#check(context)
        if (server.refuseReports) throw new ConnectError('not now', Code.Unavailable)
        const key = request.release ? toKey(request.release) : ''
        const known = server.events.get(key) ?? []
        for (const event of request.events) {
          if (event.sequence === BigInt(known.length + 1)) known.push(event)
          else if (event.sequence > BigInt(known.length))
            throw new ConnectError(`gap before ${event.sequence}`, Code.FailedPrecondition)
        }
        server.events.set(key, known)
        return { acknowledgedSequence: BigInt(known.length) }
      },
      async streamContainers(
        requests: AsyncIterable<{ streamId: string; full: boolean; containers: Container[] }>,
        context: HandlerContext,
      ) {
        server.#check(context)
        for await (const { streamId, full, containers } of requests)
          server.containerUpdates.push({ streamId, full, containers, at: performance.now() })
        return {}
      },
      async streamLog(
        requests: AsyncIterable<{ streamId: string; lines: LogLine[]; failure?: { message: string } }>,
        context: HandlerContext,
      ) {
        server.#check(context)
        for await (const { streamId, lines, failure } of requests) {
          const known = server.logLines.get(streamId) ?? []
          for (const line of lines) known.push(line)
          server.logLines.set(streamId, known)
          if (failure) server.logFailures.set(streamId, failure.message)
        }
        return {}
      },
    }
  }

  #welcome(info: AgentInfo | undefined): MessageInitShape<typeof WelcomeSchema> {
    return {
      serverVersion: '1.0.0',
      supported: true,
      scope: {
        teamId: this.scope?.teamId ?? 'team',
        nodeId: info?.nodeId ?? '',
        deletedNodeIds: this.deletedNodeIds,
      },
      positions: (info?.openReleases ?? []).map((release) => ({
        release,
        acknowledgedSequence: BigInt(this.listEvents(release).length),
        abandoned: this.abandoned.has(toKey(release)),
      })),
    }
  }
}

export function toKey({ deploymentId, number }: Pick<ReleaseKey, 'deploymentId' | 'number'>): string {
  return `${deploymentId}/${number}`
}
