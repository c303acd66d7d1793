import type { Operation, ResponseOf } from '@crux/contract'
import type { AnyRouter } from '@tanstack/react-router'
import { meQuery } from '../api/me.ts'
import { apiQuery, onAnswer, queryClient } from '../api/query.ts'
import { valueAt } from '../api/unknown-data.ts'
import { hasConsent } from './consent.ts'
import { describeException, namedEvents } from './events.ts'
import type { Sender } from './sender.ts'

let stopListening: (() => void) | undefined

/**
 * Sends which pages and actions are used, while the signed-in user consents and the installation has a key. May be
 * called again: it starts once.
 */
export function startUsage(router: AnyRouter): void {
  if (stopListening) return
  /** The sender of a user, and the user it belongs to: the next user is another visitor. */
  let current: { userId: string; sender: Promise<Sender | null> } | undefined

  const getUser = () => queryClient.getQueryData<ResponseOf<'users.me'>>(meQuery().queryKey)
  const end = () => {
    const ended = current
    current = undefined
    void ended?.sender.then((sender) => sender?.stop())
  }
  const send = async (event: string, properties: Record<string, unknown> = {}) => {
    const me = getUser()
    if (current && (current.userId !== me?.user.id || !hasConsent(current.userId))) end()
    if (!me || !hasConsent(me.user.id)) return
    const used = current ?? { userId: me.user.id, sender: loadSender() }
    current = used
    const $pathname = toPattern(router)
    const { teamSlug } = router.state.matches.at(-1)?.params ?? {}
    const team = me.teams.find(({ slug }) => slug === teamSlug)
    const sender = await used.sender
    // The consent may have ended while the sender was loaded.
    if (current !== used || !hasConsent(used.userId)) return
    sender?.send(event, { $pathname, ...properties, ...(team && { $groups: { team: team.id } }) })
  }
  const sendPage = () => void send('$pageview')
  const sendException = (error: unknown) => {
    const { name, code } = describeException(error)
    void send('$exception', { $exception_list: [{ type: name, value: '' }], code })
  }

  const stops = [
    router.subscribe('onResolved', ({ pathChanged }) => pathChanged && sendPage()),
    onAnswer((operation: Operation) => {
      const event = namedEvents[operation]
      if (event) void send(event)
    }),
    listen('error', (event) => sendException(valueAt(event, 'error'))),
    listen('unhandledrejection', (event) => sendException(valueAt(event, 'reason'))),
    listen('crux-crash', (event) => sendException(valueAt(event, 'detail'))),
    // Another tab withdrew the consent.
    listen('storage', () => current && !hasConsent(current.userId) && end()),
    end,
  ]
  stopListening = () => {
    for (const stop of stops) stop()
  }
  if (router.state.status === 'idle') sendPage()
}

/** Sends nothing from now on, and drops what has not been sent. */
export function stopUsage(): void {
  stopListening?.()
  stopListening = undefined
}

/** The address of a page as its route declares it: `/$teamSlug/deployments/$deploymentId`, without ids and search. */
const toPattern = (router: AnyRouter): string => String(router.state.matches.at(-1)?.fullPath ?? '/')

/** Null where the installation has no key, or the library cannot be loaded. */
async function loadSender(): Promise<Sender | null> {
  try {
    const { disabled, host, key } = await queryClient.fetchQuery(apiQuery('quality-assurance.get'))
    if (disabled || !host || !key) return null
    return (await import('./sender.ts')).createSender({ host, key })
  } catch {
    return null
  }
}

function listen(type: string, listener: (event: Event) => void): () => void {
  addEventListener(type, listener)
  return () => removeEventListener(type, listener)
}
