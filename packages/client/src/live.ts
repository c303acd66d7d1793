import {
  type ChannelName,
  type Channels,
  type ClientData,
  type ClientMessage,
  channelPaths,
  type LiveError,
  type ServerMessage,
} from '@crux/contract'
import type { z } from 'zod'
import type * as Schemas from './live-schemas.ts'
import { createLiveSocket, type LinkStatus, type SetTimer, type Socket } from './live-socket.ts'
import { createSubscriptions, type SubscriptionStatus } from './live-subscriptions.ts'

export type LiveParams<C extends ChannelName> = z.input<Channels[C]['params']>
/** A message of the server as listeners get it: parsed, with defaults. */
export type Received<C extends ChannelName, M extends ServerMessage<C>> = Channels[C]['server'][M] extends {
  data: infer S extends z.ZodType
}
  ? z.output<S>
  : never
export type LiveFailure = z.output<typeof LiveError>
export type { LinkStatus, SubscriptionStatus }

export type LiveChannel<C extends ChannelName> = {
  readonly path: string
  readonly status: SubscriptionStatus
  /** Messages are queued until the subscription is confirmed. The failure of a message contains its `id`. */
  send: <M extends ClientMessage<C>>(type: M, data: ClientData<C, M>, id?: string) => void
  /**
   * Calls `listen` for each such message; returns the function that unsubscribes. Payloads that do not match the contract are reported, not
   * delivered.
   */
  on: <M extends ServerMessage<C>>(type: M, listen: (data: Received<C, M>) => void) => () => void
  /** Runs now if the subscription is confirmed, and again after every reconnect: the place to request lists and to start watches. */
  onReady: (run: () => void) => () => void
  /** The path is unsubscribed when its last user has closed, the socket closes when no path is left. */
  close: () => void
}

export type Live = {
  channel: <C extends ChannelName>(name: C, params: LiveParams<C>) => LiveChannel<C>
  readonly status: LinkStatus
  onStatus: (listen: (status: LinkStatus) => void) => () => void
  /** Error frames of the server, refused subscriptions, and payloads that do not match the contract. */
  onError: (listen: (failure: LiveFailure) => void) => () => void
  /** Connects now if there are subscriptions: after a new sign-in, or when the network is back. */
  reset: () => void
  close: () => void
}

export type LiveOptions = {
  /** Opens a socket; by default the WebSocket of the platform. */
  connect?: (url: string) => Socket
  setTimer?: SetTimer
  /** Loads the schemas; by default a part of the bundle that is loaded while the socket opens. */
  loadSchemas?: () => Promise<typeof Schemas>
}

/** A part that could not be loaded is requested again after 0.5, 1, 2 s ... and then indefinitely every half minute. */
const schemaWaits = { firstMs: 500, lastMs: 30_000, attemptsUntilPublished: 5 }

/** The live channel over one socket. `url` is ws(s)://host/api. */
export function createLive(url: string, options: LiveOptions = {}): Live {
  const statusListeners = createListeners<LinkStatus>()
  const errorListeners = createListeners<LiveFailure>()
  const fail = errorListeners.publish
  /** Frames of this connection that arrived before the schemas were loaded, in order. */
  const early: string[] = []
  const receive = (text: string, { LiveError }: typeof Schemas) => {
    const frame = readFrame(text)
    if (!frame) return
    if (frame.type !== 'error') return subscriptions.receive(frame.type, frame.data)
    const failure = LiveError.safeParse(frame.data)
    fail(failure.success ? failure.data : { status: 500, message: 'Unknown error' })
  }
  const { setTimer = startTimer } = options
  const loader = createSchemaLoader({
    load: options.loadSchemas ?? (() => import('./live-schemas.ts')),
    setTimer,
    onLate: () =>
      fail({ status: 500, message: 'A part of the page could not be loaded: reload it', error: 'internalError' }),
    onLoaded: (schemas) => {
      if (socket.status === 'open') publishStatus('open')
      for (const text of early.splice(0)) receive(text, schemas)
    },
  })
  /** A socket whose frames cannot be parsed yet does not count as open. */
  const seen = (status: LinkStatus): LinkStatus => (status === 'open' && !loader.schemas ? 'connecting' : status)
  let published: LinkStatus = 'closed'
  const publishStatus = (status: LinkStatus) => {
    if (seen(status) === published) return
    published = seen(status)
    statusListeners.publish(published)
  }

  const socket = createLiveSocket({
    connect: () => (options.connect ?? ((address) => new WebSocket(address)))(url),
    setTimer,
    onStatus: (status) => {
      if (status !== 'open') {
        early.length = 0
        subscriptions.forget()
      }
      publishStatus(status)
    },
    onOpen: () => subscriptions.renew(),
    onText: (text) => {
      if (loader.schemas) receive(text, loader.schemas)
      else early.push(text)
    },
  })
  const subscriptions = createSubscriptions({
    send: (type, data, id) => socket.send(JSON.stringify({ type, data, id })),
    isOpen: () => socket.status === 'open',
    onFirst: () => {
      void loader.start()
      socket.open()
    },
    onNone: () => socket.close(),
    onRefused: (path) =>
      fail({
        status: 403,
        message: 'This page does not update by itself. Reload it to see changes.',
        error: 'forbidden',
        path,
      }),
  })

  return {
    channel: (name, params) => openChannel(name, params, { subscriptions, fail, schemas: () => loader.schemas }),
    get status() {
      return seen(socket.status)
    },
    onStatus: statusListeners.add,
    onError: errorListeners.add,
    reset: () => socket.reset(subscriptions.any()),
    close: () => {
      subscriptions.clear()
      socket.close()
    },
  }
}

const startTimer: SetTimer = (run, ms) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

function createListeners<T>() {
  const listeners = new Set<(value: T) => void>()
  return {
    add(listen: (value: T) => void) {
      listeners.add(listen)
      return () => void listeners.delete(listen)
    },
    publish(value: T) {
      for (const listen of listeners) listen(value)
    },
  }
}

/** One use of a channel: its messages, checked against the contract. */
function openChannel<C extends ChannelName>(
  name: C,
  params: LiveParams<C>,
  parts: {
    subscriptions: ReturnType<typeof createSubscriptions>
    fail: (failure: LiveFailure) => void
    schemas: () => typeof Schemas | null
  },
): LiveChannel<C> {
  const values = new Map<string, unknown>(Object.entries({ ...params }))
  const path = channelPaths[name].path.replace(/:(\w+)/g, (_, key: string) =>
    encodeURIComponent(String(values.get(key))),
  )
  const user = parts.subscriptions.join(path)
  return {
    path,
    get status() {
      return user.status()
    },
    send: (type, data, id) => user.send(type, data, id),
    on: (type, listen) =>
      user.on(type, (raw) => {
        const spec: AnySpec | undefined = parts.schemas()?.liveChannels[name]
        const parsed = spec?.server[type]?.data.safeParse(raw)
        if (parsed?.success) listen(parsed.data as never)
        else parts.fail({ status: 500, message: `An unexpected message came: ${type}`, error: 'internalError', path })
      }),
    onReady: user.onReady,
    close: user.leave,
  }
}

/** Loads the schemas once, and requests them again for as long as they cannot be loaded. */
function createSchemaLoader(options: {
  load: () => Promise<typeof Schemas>
  setTimer: SetTimer
  onLate: () => void
  onLoaded: (schemas: typeof Schemas) => void
}) {
  let schemas: typeof Schemas | null = null
  let loading = false
  return {
    get schemas() {
      return schemas
    },
    async start(): Promise<void> {
      if (schemas || loading) return
      loading = true
      for (let attempt = 1; !schemas; attempt++) {
        try {
          schemas = await options.load()
        } catch {
          if (attempt === schemaWaits.attemptsUntilPublished) options.onLate()
          const wait = Math.min(schemaWaits.firstMs * 2 ** (attempt - 1), schemaWaits.lastMs)
          await new Promise<void>((resolve) => options.setTimer(resolve, wait))
        }
      }
      options.onLoaded(schemas)
    },
  }
}

type AnySpec = { server: Record<string, { data: z.ZodType }> }

function readFrame(text: string): { type: string; data: unknown } | null {
  try {
    const frame: unknown = JSON.parse(text)
    if (typeof frame !== 'object' || frame === null || !('type' in frame) || typeof frame.type !== 'string') return null
    return { type: frame.type, data: 'data' in frame ? frame.data : null }
  } catch {
    return null
  }
}
