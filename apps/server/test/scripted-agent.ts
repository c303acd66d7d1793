import { randomUUID } from 'node:crypto'
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { type Client, createClient } from '@connectrpc/connect'
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node'
import {
  type AgentInfo,
  AgentInfoSchema,
  AgentService,
  type ConnectResponse,
  type ContainerSchema,
  EngineKind,
  type LogLineSchema,
  type RespondRequestSchema,
} from '@crux/agent-protocol'
import type { NodeCluster } from '@crux/contract'
import type { TestServer } from './kit/index.ts'

type ResultInit = NonNullable<MessageInitShape<typeof RespondRequestSchema>['result']>

/** An agent that uses the real protocol over a real connection and follows the commands of a test. */
export class ScriptedAgent {
  readonly info: AgentInfo
  readonly received: ConnectResponse[] = []
  /** Commands that it fails at once; it leaves all others to the test. */
  readonly failing = new Set<ConnectResponse['command']['case']>()
  /** How the Connect call ended, once it has. */
  ended: Promise<unknown> = Promise.resolve()
  readonly client: Client<typeof AgentService>
  readonly #session: Http2SessionManager
  readonly #abort = new AbortController()
  #token: string
  #waiting: (() => void)[] = []

  constructor(options: {
    url: string
    nodeId: string
    token: string
    info?: MessageInitShape<typeof AgentInfoSchema>
    /** The headers that a proxy on the way would add to each call. */
    headers?: Record<string, string>
  }) {
    this.#token = options.token
    this.info = create(AgentInfoSchema, {
      nodeId: options.nodeId,
      version: '1.0.0',
      publicKey: `key of ${options.nodeId}`,
      engine: EngineKind.DOCKER,
      engineVersion: 'Docker 28.0.0',
      operatingSystem: 'Debian GNU/Linux 12',
      architecture: 'amd64',
      sessionId: randomUUID(),
      ...options.info,
    })
    this.#session = new Http2SessionManager(options.url)
    const transport = createGrpcTransport({
      baseUrl: options.url,
      sessionManager: this.#session,
      acceptCompression: [],
      interceptors: [
        (next) => (request) => {
          request.header.set('authorization', `Bearer ${this.#token}`)
          for (const [name, value] of Object.entries(options.headers ?? {})) request.header.set(name, value)
          return next(request)
        },
      ],
    })
    this.client = createClient(AgentService, transport)
  }

  get token(): string {
    return this.#token
  }

  useToken(token: string): void {
    this.#token = token
  }

  async exchange(): Promise<string> {
    this.#token = (await this.client.exchange({ info: this.info })).connectionToken
    return this.#token
  }

  /** Opens the link; resolves with Welcome. Commands then arrive in `received`. */
  async connect(): Promise<ConnectResponse> {
    const messages = this.client.connect({ info: this.info }, { signal: this.#abort.signal })[Symbol.asyncIterator]()
    const first = await messages.next()
    if (first.done) throw new Error('the link ended before Welcome')
    this.#take(first.value)
    this.ended = (async () => {
      for (let next = await messages.next(); !next.done; next = await messages.next()) this.#take(next.value)
      return 'ended'
    })().catch((error: unknown) => error)
    return first.value
  }

  /** The next (or an earlier) command of a kind, as soon as it has arrived. */
  async command<C extends NonNullable<ConnectResponse['command']['case']>>(kind: C, nth = 1) {
    for (;;) {
      const found = this.received.filter((message) => message.command.case === kind)[nth - 1]
      if (found) {
        const { commandId, command } = found
        return { commandId, value: command.value as Extract<ConnectResponse['command'], { case: C }>['value'] }
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  respond(commandId: string, result: ResultInit) {
    return this.client.respond({ commandId, result })
  }

  /** Answers WatchContainers; `send` resolves when the message was accepted. */
  streamContainers(streamId: string) {
    const feed = makeFeed<{ streamId: string; full: boolean; containers: MessageInitShape<typeof ContainerSchema>[] }>()
    const done = this.client
      .streamContainers(feed.values, { signal: this.#abort.signal })
      .catch((error: unknown) => error)
    return {
      done,
      end: feed.end,
      send: (full: boolean, containers: MessageInitShape<typeof ContainerSchema>[]) =>
        feed.push({ streamId, full, containers }),
    }
  }

  streamLog(streamId: string) {
    const feed = makeFeed<{ streamId: string; lines: MessageInitShape<typeof LogLineSchema>[] }>()
    const done = this.client.streamLog(feed.values, { signal: this.#abort.signal }).catch((error: unknown) => error)
    return {
      done,
      end: feed.end,
      send: (lines: MessageInitShape<typeof LogLineSchema>[]) => feed.push({ streamId, lines }),
    }
  }

  /** Closes the connection, as the system does for a killed process, but not for a machine that loses power. */
  cut(): void {
    this.#abort.abort()
    this.#session.abort()
  }

  #take(message: ConnectResponse) {
    this.received.push(message)
    if (this.failing.has(message.command.case))
      void this.respond(message.commandId, { case: 'failure', value: { message: 'this agent has no engine' } })
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

/** Values that a call sends one by one; `push` resolves when the transport has requested the next. */
function makeFeed<T>() {
  const queue: { value: T; taken: () => void }[] = []
  let wake: (() => void) | undefined
  let over = false
  async function* values(): AsyncGenerator<T> {
    for (;;) {
      for (let next = queue.shift(); next; next = queue.shift()) {
        yield next.value
        next.taken()
      }
      if (over) return
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return {
    values: values(),
    push: (value: T) =>
      new Promise<void>((taken) => {
        queue.push({ value, taken })
        wake?.()
      }),
    end() {
      over = true
      wake?.()
    },
  }
}

/** Connects an agent of a cluster for a node, which becomes one of type k8s with these settings. */
export async function connectClusterAgent(
  { app, url }: Pick<TestServer, 'app' | 'url'>,
  node: { id: string; token: string },
  cluster?: NodeCluster,
): Promise<ScriptedAgent> {
  await app.database.pool.query(`update crux.node set type = 'k8s', cluster = $2 where id = $1`, [
    node.id,
    cluster ? JSON.stringify(cluster) : null,
  ])
  const agent = new ScriptedAgent({ url, nodeId: node.id, token: node.token, info: { engine: EngineKind.KUBERNETES } })
  await agent.connect()
  return agent
}
