import { randomUUID } from 'node:crypto'
import { CruxError, closeCodes } from '@crux/contract'
import type { Logger } from '@crux/service-kit'
import type { Actor, AuthServices } from '../access/index.ts'
import { toCruxError } from '../http/index.ts'
import { type ChannelMatch, matchChannel } from './channel-paths.ts'
import { type Frame, writeError, writeFrame } from './frames.ts'
import type { LiveSocket } from './live-socket.ts'
import { type Messages, mayUse } from './messages.ts'
import { createSubscription, type Subscription } from './subscription.ts'

/** setTimeout does not accept a longer time. */
const timerMaxMs = 2_147_483_647
const subscriptionsMax = 200
/** The number of messages of one socket that may wait; beyond it the server reads no more. */
const pendingMax = 64

type Parts = Pick<AuthServices, 'authentication' | 'membership'> & { messages: Messages; log: Logger }

/** One browser's socket with its subscriptions. */
export class Connection {
  readonly socket: LiveSocket
  readonly subscriptions = new Map<string, Subscription>()
  private readonly parts: Parts
  /** Paths whose right is being checked, each with the request that asked for it last. */
  private readonly asked = new Map<string, symbol>()
  private pending = 0
  private expiry?: NodeJS.Timeout

  constructor(socket: LiveSocket, parts: Parts) {
    this.socket = socket
    this.parts = parts
    this.expireLater()
  }

  receive(frame: Frame): void {
    const { ws } = this.socket
    if (this.socket.gone) return
    if (++this.pending >= pendingMax) ws.pause()
    void this.handle(frame)
      .catch((error: unknown) => this.socket.send('error', writeError(this.reported(error))))
      .finally(() => {
        if (--this.pending < pendingMax && ws.isPaused) ws.resume()
      })
  }

  /** Checks the session, and the right to each subscription, again. */
  async check(): Promise<void> {
    try {
      const actor = await this.currentActor()
      if (!actor) return this.end()
      this.expireLater()
      for (const [path, { team, match, setRole }] of [...this.subscriptions]) {
        const now = await this.parts.membership.find(actor, { by: 'id', value: team.id })
        if (!now || !mayUse(actor, now, match.spec.permission)) this.drop(path, new CruxError('forbidden'))
        else setRole(now.role)
      }
    } catch (err) {
      this.parts.log.debug({ err }, 'a live socket could not be checked now')
    }
  }

  /** Closes the socket of a session that has ended. */
  end(): void {
    this.close(closeCodes.sessionEnded, 'Expired')
  }

  close(code: number, reason: string): void {
    for (const subscription of this.subscriptions.values()) subscription.leave()
    this.socket.close(code, reason)
  }

  /** The socket is closed. */
  closed(): void {
    clearTimeout(this.expiry)
    this.socket.left()
    for (const subscription of this.subscriptions.values()) subscription.leave()
    this.subscriptions.clear()
  }

  private async handle(frame: Frame): Promise<void> {
    if (frame.type === 'subscribe' || frame.type === 'unsubscribe') {
      const path = toPath(frame.data)
      if (path === undefined) throw new CruxError('invalidArgument', { property: 'path' })
      return frame.type === 'subscribe' ? this.subscribe(path) : this.unsubscribe(path)
    }
    const cut = frame.type.lastIndexOf('/')
    const subscription = this.subscriptions.get(frame.type.slice(0, cut))
    // Messages for a path without a subscription are ignored.
    if (!subscription) return
    const message = { ...frame, type: frame.type.slice(cut + 1) }
    const outcome = await this.parts.messages.run(this.socket, subscription, message)
    if (outcome === 'session-ended') this.end()
    if (outcome === 'not-in-team') this.drop(subscription.subscriber.path, new CruxError('forbidden'))
  }

  private async subscribe(path: string): Promise<void> {
    const { socket, subscriptions, asked } = this
    if (subscriptions.has(path) || asked.has(path)) return
    const match = matchChannel(path)
    if (!match) {
      const error = new CruxError('notFound', { property: 'path', value: path.slice(0, 500) })
      return socket.send('error', writeError(error, path))
    }
    if (subscriptions.size + asked.size >= subscriptionsMax)
      throw new CruxError('tooManyRequests', { property: 'path' })
    const mine = Symbol(path)
    asked.set(path, mine)
    // The subscription was cancelled, and perhaps requested again, before it was open; then this result is not needed.
    const isWanted = () => asked.get(path) === mine
    let allowed: Awaited<ReturnType<Connection['authorize']>>
    try {
      allowed = await this.authorize(match)
      if (!allowed) return this.end()
      if (socket.gone || !isWanted()) return
    } finally {
      if (isWanted()) asked.delete(path)
    }
    if (!allowed.team) return this.refuse(path, new CruxError('forbidden'))
    const subscription = createSubscription(socket, randomUUID(), path, match, { ...allowed.team })
    subscriptions.set(path, subscription)
    // Messages that arrive in the meantime wait for it.
    subscription.tail = this.open(path, subscription)
    await subscription.tail
  }

  /** @returns undefined without a session; no team when the path must not be used */
  private async authorize({ params, spec }: ChannelMatch) {
    const actor = await this.currentActor()
    if (!actor) return undefined
    const team = await this.parts.membership.find(actor, { by: 'slug', value: params.teamSlug ?? '' })
    return { team: team && mayUse(actor, team, spec.permission) ? team : undefined }
  }

  private async open(path: string, subscription: Subscription): Promise<void> {
    const { subscriber } = subscription
    try {
      await this.parts.messages.open(subscription)
      if (subscriber.left) return
      this.socket.send('subbed', writeFrame('subbed', { path }))
      subscription.opened()
    } catch (error) {
      if (subscriber.left) return
      if (this.subscriptions.get(path) === subscription) this.subscriptions.delete(path)
      subscription.leave()
      this.refuse(path, this.reported(error))
    }
  }

  private unsubscribe(path: string): void {
    this.asked.delete(path)
    const subscription = this.subscriptions.get(path)
    this.subscriptions.delete(path)
    subscription?.leave()
    this.socket.send('unsubbed', writeFrame('unsubbed', { path }))
  }

  private refuse(path: string, error: CruxError): void {
    const { status, code, message: description } = error
    this.socket.send('sub-failed', writeFrame('sub-failed', { path, status, error: code, description }))
  }

  /** Ends the subscription of a user who lost the right to the path. */
  private drop(path: string, error: CruxError): void {
    const subscription = this.subscriptions.get(path)
    if (!subscription) return
    this.subscriptions.delete(path)
    subscription.leave()
    this.refuse(path, error)
  }

  private expireLater(): void {
    clearTimeout(this.expiry)
    const leftMs = this.socket.actor.sessionExpiresAt.getTime() - Date.now()
    this.expiry = setTimeout(
      () => (leftMs > timerMaxMs ? this.expireLater() : this.end()),
      Math.min(Math.max(0, leftMs), timerMaxMs),
    )
    this.expiry.unref()
  }

  /** The current session; a user with a valid session keeps the socket while the identity service is unavailable. */
  private async currentActor(): Promise<Actor | undefined> {
    const actor = await this.parts.authentication.actor(this.socket.credentials)
    if (actor) this.socket.actor = actor
    return actor
  }

  private reported(error: unknown): CruxError {
    const known = toCruxError(error)
    if (known.status >= 500) this.parts.log.error({ err: known.cause ?? known }, 'a live message failed')
    return known
  }
}

function toPath(data: unknown): string | undefined {
  const path = typeof data === 'object' && data !== null && 'path' in data ? data.path : undefined
  return typeof path === 'string' && path.startsWith('/') && path.length <= 1_024 ? path : undefined
}
