import { type ChannelName, CruxError, isAllowed, type Permission, scopeCovers, scopeOfPermission } from '@crux/contract'
import { type Actor, type AuthServices, pendingRequirement, type TeamContext } from '../access/index.ts'
import { recordAudit } from '../audit-log/index.ts'
import type { App } from '../context.ts'
import { parseInput, toCruxError } from '../http/index.ts'
import { getSubject } from './channel-paths.ts'
import type { Editors } from './editors.ts'
import { type Frame, writeError } from './frames.ts'
import type { ChannelHandlers } from './handlers.ts'
import type { LiveSocket } from './live-socket.ts'
import type { Subscription } from './subscription.ts'

export type Outcome = 'done' | 'session-ended' | 'not-in-team'
type AnyChannel = {
  open(subscriber: unknown): Promise<void>
  messages: Record<string, ((subscriber: unknown, data: unknown) => Promise<void>) | undefined>
}

/** Their handlers may take a minute (an engine, a registry): messages start in order, but do not wait for each other's end. */
const concurrent: ReadonlySet<ChannelName> = new Set(['node', 'registries'])
/** The audit log names messages that may contain credentials, without their data. */
const withoutData = new Set(['container-configuration'])

/**
 * Checks the role in the team, the second factor if the team requires it and, for a token, its scope. A deployment's
 * token cannot use the live channel.
 */
export const mayUse = (actor: Actor, team: TeamContext, permission: Permission): boolean =>
  actor.kind !== 'deployment-token' &&
  !pendingRequirement(actor, team) &&
  isAllowed(team.role, permission) &&
  (!actor.grant || scopeCovers(actor.grant.scope, scopeOfPermission(permission)))

export type Messages = ReturnType<typeof createMessages>

/** Authorises, checks and runs one message with the current session, membership and role, not with those of the subscription. */
export function createMessages(
  app: App,
  parts: Pick<AuthServices, 'authentication' | 'membership'> & { channels: ChannelHandlers; editors: Editors },
) {
  const getChannel = (name: ChannelName) => parts.channels[name] as AnyChannel

  async function open({ match, subscriber, peer, team }: Subscription): Promise<void> {
    await getChannel(match.channel).open(subscriber)
    if (!('focus-input' in match.spec.client) || subscriber.left) return
    const subject = getSubject(match, team.id)
    subscriber.onLeave(() => parts.editors.leave(subject, subscriber.id))
    parts.editors.join(subject, peer, subscriber.actor.name)
  }

  /** @returns the handler's work, which has started */
  async function begin(socket: LiveSocket, subscription: Subscription, type: string, data: unknown) {
    const { match, subscriber, team } = subscription
    if (subscriber.left) return { outcome: 'done' as const }
    const actor = await parts.authentication.actor(socket.credentials)
    if (!actor) return { outcome: 'session-ended' as const }
    const member = await parts.membership.find(actor, { by: 'id', value: team.id })
    if (!member) return { outcome: 'not-in-team' as const }
    subscription.setRole(member.role)
    const spec = match.spec.client[type]
    if (!spec) throw new CruxError('invalidArgument', { property: 'type', value: type.slice(0, 100) })
    if (!mayUse(actor, member, spec.permission)) throw new CruxError('forbidden')
    const parsed = parseInput(spec, spec.data, data)
    if (subscriber.left) return { outcome: 'done' as const }
    if (type === 'focus-input' || type === 'blur-input') {
      parts.editors.move(getSubject(match, team.id), subscriber.id, type, parsed as never)
      return { outcome: 'done' as const }
    }
    const work = getChannel(match.channel).messages[type]?.(subscriber, parsed)
    return { outcome: 'done' as const, work }
  }

  async function run(socket: LiveSocket, subscription: Subscription, message: Frame): Promise<Outcome> {
    const { type, data, id } = message
    const before = subscription.tail
    const begun = before.then(() => begin(socket, subscription, type, data))
    const ended = begun.then(async ({ work }) => void (await work))
    // The next message waits for the end of this one, or only for its start.
    subscription.tail = (concurrent.has(subscription.match.channel) ? begun : ended).then(
      () => undefined,
      () => undefined,
    )
    try {
      const { outcome } = await begun
      await ended
      if (outcome === 'done') await record(app, subscription, message)
      return outcome
    } catch (error) {
      ended.catch(() => undefined)
      const refusal = toCruxError(error)
      if (refusal.status >= 500)
        app.log.error(
          { err: refusal.cause ?? refusal, type, channel: subscription.match.channel },
          'a live message failed',
        )
      socket.send('error', writeError(refusal, subscription.subscriber.path, id))
      await record(app, subscription, message, refusal)
      return 'done'
    }
  }

  return { open, run }
}

async function record(
  app: App,
  { match, subscriber, team }: Subscription,
  { type, data }: Frame,
  refusal?: CruxError,
): Promise<void> {
  const label = match.spec.client[type]?.audit
  if (!label) return
  await recordAudit(app, {
    teamId: team.id,
    actor: subscriber.actor,
    context: 'ws',
    event: `${label} ${match.channel}.${type}`,
    accepted: refusal === undefined,
    data: {
      params: { ...match.params, teamSlug: undefined },
      ...(!withoutData.has(label) && { body: data }),
      ...(refusal && { refused: { error: refusal.code, property: refusal.property } }),
    },
  })
}
