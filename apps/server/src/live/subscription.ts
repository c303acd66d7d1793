import type { ChannelName, TeamRole } from '@crux/contract'
import type { TeamContext } from '../access/index.ts'
import { toCruxError } from '../http/index.ts'
import type { ChannelMatch } from './channel-paths.ts'
import type { EditorPeer } from './editors.ts'
import { writeError, writeMessage } from './frames.ts'
import type { Subscriber } from './handlers.ts'
import type { LiveSocket } from './live-socket.ts'

export type AnySubscriber = Subscriber<ChannelName> & { left: boolean }

export type Subscription = {
  match: ChannelMatch
  subscriber: AnySubscriber
  peer: EditorPeer
  team: TeamContext
  /** Messages start one after another; in most channels each ends before the next starts. */
  tail: Promise<void>
  /** Sends the messages that were held back while the channel opened. */
  opened(): void
  leave(): void
  setRole(role: TeamRole): void
}

/** The interface of one socket on one path for its channel. Nothing is sent until `opened`, so that `subbed` comes first. */
export function createSubscription(
  socket: LiveSocket,
  id: string,
  path: string,
  match: ChannelMatch,
  team: TeamContext,
): Subscription {
  const leavers: (() => void)[] = []
  const roleListeners: (() => void)[] = []
  let held: [type: string, text: string][] | undefined = []

  const send = (type: string, text: string) => {
    if (subscriber.left) return
    if (held) held.push([type, text])
    else socket.send(type, text)
  }
  const subscriber: AnySubscriber = {
    id,
    path,
    params: match.params,
    actor: socket.actor,
    team,
    left: false,
    send: (type: string, data: unknown) => send(type, writeMessage(match.channel, path, type, data)),
    fail: (error: unknown) => send('error', writeError(toCruxError(error), path)),
    buffered: () => socket.buffered(),
    drained: () => (subscriber.left ? Promise.resolve() : socket.drained()),
    onLeave: (fn: () => void) => {
      if (subscriber.left) fn()
      else leavers.push(fn)
    },
    onRoleChange: (fn: () => void) => void roleListeners.push(fn),
  }

  return {
    match,
    subscriber,
    peer: { id, send: subscriber.send },
    team,
    tail: Promise.resolve(),
    opened() {
      const messages = held ?? []
      held = undefined
      for (const [type, text] of messages) send(type, text)
    },
    leave() {
      if (subscriber.left) return
      subscriber.left = true
      for (const fn of leavers.splice(0)) fn()
    },
    setRole(role) {
      if (team.role === role) return
      team.role = role
      for (const fn of roleListeners) fn()
    },
  }
}
