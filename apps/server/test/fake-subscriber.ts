import type { ChannelName, ServerMessage } from '@crux/contract'
import type { TeamContext } from '../src/access/actor.ts'
import type { Subscriber } from '../src/live/handlers.ts'
import { actor, eventually } from './make-gateway.ts'

/** A subscriber that replaces the live hub's: it keeps all messages, and can be slow. */
export function makeSubscriber<C extends ChannelName>(
  team: TeamContext,
  params: Record<string, string>,
): Subscriber<C> & {
  sent: { type: string; data: unknown }[]
  failures: unknown[]
  waitFor(type: ServerMessage<C>, isWanted?: (data: never) => boolean): Promise<unknown>
  setBuffered(bytes: number): void
  leave(): void
  setRole(role: TeamContext['role']): void
} {
  const roleListeners: (() => void)[] = []
  const leavers: (() => void)[] = []
  let waiting: (() => void)[] = []
  let buffered = 0
  const sent: { type: string; data: unknown }[] = []
  const failures: unknown[] = []
  const subscriber = {
    id: crypto.randomUUID(),
    path: '/',
    params: { teamSlug: team.slug, ...params },
    actor,
    team,
    left: false,
    sent,
    failures,
    send: (type: string, data: unknown) => void sent.push({ type, data }),
    fail: (error: unknown) => void failures.push(error),
    buffered: () => buffered,
    drained: () =>
      buffered === 0 || subscriber.left
        ? Promise.resolve()
        : new Promise<void>((resolve) => {
            waiting.push(resolve)
          }),
    onLeave: (fn: () => void) => void leavers.push(fn),
    onRoleChange: (fn: () => void) => void roleListeners.push(fn),
    setRole(role: TeamContext['role']) {
      team.role = role
      for (const fn of roleListeners) fn()
    },
    setBuffered(bytes: number) {
      buffered = bytes
      if (bytes > 0) return
      const resumed = waiting
      waiting = []
      for (const resume of resumed) resume()
    },
    leave() {
      subscriber.left = true
      subscriber.setBuffered(0)
      for (const fn of leavers.splice(0)) fn()
    },
    async waitFor(type: string, isWanted: (data: never) => boolean = () => true) {
      const found = await eventually(
        () => sent.find((message) => message.type === type && isWanted(message.data as never)),
        (message) => message !== undefined,
      )
      return found?.data
    },
  }
  return subscriber as never
}
