import type { NotificationType } from '@crux/contract'

/** E-mail has no address of its own: it goes to members. */
export type NotificationUrlType = Exclude<NotificationType, 'email'>
export type NotificationUrlResult = { ok: true; url: string; masked: string } | { ok: false; problem: string }

/** What answers show instead of the secret part of an address. */
export const urlMask = '••••'

type Pattern = {
  host: RegExp
  /** The first group is what answers show, the rest of the path and the query are secret. */
  path: RegExp
  /** The query must have them. */
  query?: readonly string[]
}

/** A server of one's own may answer below a path. */
const below = String.raw`(?:/[\w.~-]+)*?`
const patterns: Record<Exclude<NotificationUrlType, 'webhook'>, readonly Pattern[]> = {
  discord: [
    {
      host: /^(?:(?:ptb|canary)\.)?discord(?:app)?\.com$/,
      path: /^(\/api\/(?:v\d+\/)?webhooks\/\d+)\/[\w-]+$/,
    },
  ],
  slack: [{ host: /^hooks\.slack\.com$/, path: /^(\/services\/T\w{8,12}\/B\w{8,12})\/\w{24}$/ }],
  teams: [
    { host: /^[\w-]+\.webhook\.office\.com$/, path: /^(\/webhookb2\/[\w@-]+)\/IncomingWebhook\/[\w/-]+$/ },
    {
      host: /^(?:[\w-]+\.)+logic\.azure\.com$/,
      path: /^(\/workflows\/\w+)\/triggers\/[\w-]+\/paths\/invoke$/,
      query: ['sig'],
    },
    {
      host: /^(?:[\w-]+\.)+api\.powerplatform\.com$/,
      path: /^(\/powerautomate\/automations\/direct\/workflows\/\w+)\/triggers\/[\w-]+\/paths\/invoke$/,
      query: ['sig'],
    },
  ],
  rocket: [{ host: /./, path: new RegExp(`^(${below}/hooks/[0-9a-f]{24})/\\w{32,}$`) }],
  mattermost: [{ host: /./, path: new RegExp(`^(${below}/hooks)/[0-9A-Za-z]+$`) }],
}

/** An address of each type, with which errors and forms show what is meant. */
export const notificationUrlExamples: Readonly<Record<NotificationUrlType, string>> = {
  discord: 'https://discord.com/api/webhooks/123456789012345678/AbCdEf-GhIjKl',
  slack: 'https://hooks.slack.com/services/T0123456789/B0123456789/abcdefghijklmnopqrstuvwx',
  teams:
    'https://example.webhook.office.com/webhookb2/11111111-2222-3333-4444-555555555555@66666666-7777-8888-9999-000000000000/IncomingWebhook/0123456789abcdef/22222222-3333-4444-5555-666666666666',
  rocket: 'https://chat.example.com/hooks/0123456789abcdef01234567/abcdefghijklmnopqrstuvwxyz012345',
  mattermost: 'https://chat.example.com/hooks/abcdefghijklmnopqrstuvwxyz',
  webhook: 'https://example.com/crux-events',
}

const bad = (problem: string): NotificationUrlResult => ({ ok: false, problem })

/**
 * Parses the address to which the notifications of a type are sent. No problem repeats the address, because it is a
 * credential.
 *
 * @returns the stored form, and what answers show of it
 */
export function parseNotificationUrl(type: NotificationUrlType, text: string): NotificationUrlResult {
  const typed = text.trim()
  const example = `Write an address such as ${notificationUrlExamples[type]}`
  if (typed.includes(urlMask)) return bad('Enter the whole address again: a part of this one is hidden')
  if (/\s/.test(typed) || !URL.canParse(typed)) return bad(example)
  const url = new URL(typed)
  if (url.username || url.password) return bad('Enter an address without user and password')
  if (url.hash) return bad('Enter an address without a part after #')
  if (type === 'webhook') {
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return bad(example)
    const hasMore = url.pathname !== '/' || url.search !== ''
    return { ok: true, url: url.href, masked: hasMore ? `${url.origin}/${urlMask}` : url.origin }
  }
  for (const { host, path, query = [] } of patterns[type]) {
    const shown = path.exec(url.pathname)?.[1]
    const isOwn = type === 'rocket' || type === 'mattermost'
    if (url.protocol !== 'https:' || !host.test(url.hostname) || shown === undefined) continue
    if ((!isOwn && url.port !== '') || !query.every((name) => url.searchParams.get(name))) continue
    return { ok: true, url: url.href, masked: `${url.origin}${shown}/${urlMask}` }
  }
  return bad(example)
}
