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
import { createLiveSocket, type LinkStatus, type Socket } from './live-socket.ts'
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
  setTimer?: (run: () => void, ms: number) => unknown
  clearTimer?: (timer: unknown) => void
  /** Loads the schemas; by default a part of the bundle that is loaded while the socket opens. */
  loadSchemas?: () => Promise<typeof Schemas>
}

/** A part that could not be loaded is requested again after 0.5, 1, 2 s ... and then indefinitely every half minute. */
const schemaWaits = { firstMs: 500, lastMs: 30_000, attemptsUntilPublished: 5 }

/** The live channel over one socket. `url` is ws(s)://host/api. */
export function createLive(url: string, options: LiveOptions = {}): Live {
  const statusListeners = new Set<(status: LinkStatus) => void>()
  const errorListeners = new Set<(failure: LiveFailure) => void>()
  const fail = (failure: LiveFailure) => {
    for (const listen of errorListeners) listen(failure)
  }
  let schemas: typeof Schemas | null = null
  /** Frames of this connection that arrived before the schemas were loaded, in order. */
  const early: string[] = []
  const receive = (text: string, { LiveError }: typeof Schemas) => {
    const frame = readFrame(text)
    if (!frame) return
    if (frame.type !== 'error') return subscriptions.receive(frame.type, frame.data)
    const failure = LiveError.safeParse(frame.data)
    fail(failure.success ? failure.data : { status: 500, message: 'Unknown error' })
  }
  const setTimer = options.setTimer ?? ((run, ms) => setTimeout(run, ms))
  const load = options.loadSchemas ?? (() => import('./live-schemas.ts'))
  let loading = false
  const loadSchemas = async () => {
    if (schemas || loading) return
    loading = true
    for (let tries = 1; !schemas; tries++) {
      try {
        schemas = await load()
      } catch {
        if (tries === schemaWaits.attemptsUntilPublished)
          fail({ status: 500, message: 'A part of the page could not be loaded: reload it', error: 'internalError' })
        const wait = Math.min(schemaWaits.firstMs * 2 ** (tries - 1), schemaWaits.lastMs)
        await new Promise<void>((resolve) => setTimer(resolve, wait))
      }
    }
    if (socket.status === 'open') publishStatus('open')
    for (const text of early.splice(0)) receive(text, schemas)
  }
  /** A socket whose frames cannot be parsed yet does not count as open. */
  const seen = (status: LinkStatus): LinkStatus => (status === 'open' && !schemas ? 'connecting' : status)
  let published: LinkStatus = 'closed'
  const publishStatus = (status: LinkStatus) => {
    if (seen(status) === published) return
    published = seen(status)
    for (const listen of statusListeners) listen(published)
  }

  const socket = createLiveSocket({
    connect: () => (options.connect ?? ((address) => new WebSocket(address) as Socket))(url),
    setTimer,
    clearTimer: options.clearTimer ?? ((timer) => clearTimeout(timer as ReturnType<typeof setTimeout>)),
    onStatus: (status) => {
      if (status !== 'open') {
        early.length = 0
        subscriptions.forget()
      }
      publishStatus(status)
    },
    onOpen: () => subscriptions.renew(),
    onLoss: () => {},
    onText: (text) => {
      if (schemas) receive(text, schemas)
      else early.push(text)
    },
  })
  const subscriptions = createSubscriptions({
    send: (type, data, id) => socket.send(JSON.stringify({ type, data, id })),
    isOpen: () => socket.status === 'open',
    onFirst: () => {
      void loadSchemas()
      socket.open()
    },
    onNone: () => socket.close(),
    onRefused: (path) => fail({ status: 403, message: 'This page cannot be followed live.', error: 'forbidden', path }),
  })

  return {
    channel: (name, params) => {
      const path = channelPaths[name].replace(/:(\w+)/g, (_, key: string) =>
        encodeURIComponent(String((params as Record<string, unknown>)[key])),
      )
      const user = subscriptions.join(path)
      return {
        path,
        get status() {
          return user.status()
        },
        send: (type, data, id) => user.send(type, data, id),
        on: (type, listen) =>
          user.on(type, (raw) => {
            const spec: AnySpec | undefined = schemas?.liveChannels[name]
            const parsed = spec?.server[type]?.data.safeParse(raw)
            if (parsed?.success) listen(parsed.data as never)
            else fail({ status: 500, message: `An unexpected message came: ${type}`, error: 'internalError', path })
          }),
        onReady: user.onReady,
        close: user.leave,
      }
    },
    get status() {
      return seen(socket.status)
    },
    onStatus: (listen) => {
      statusListeners.add(listen)
      return () => statusListeners.delete(listen)
    },
    onError: (listen) => {
      errorListeners.add(listen)
      return () => errorListeners.delete(listen)
    },
    reset: () => socket.reset(subscriptions.any()),
    close: () => {
      subscriptions.clear()
      socket.close()
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
