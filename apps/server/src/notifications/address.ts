import { CruxError, type NotificationWrite } from '@crux/contract'
import { parseNotificationUrl } from '@crux/rules'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { type lockNotification, type SealedAddress, selectMembers } from './store.ts'

export type StoredNotification = NonNullable<Awaited<ReturnType<typeof lockNotification>>>
export type Address = SealedAddress & {
  maskedUrl: string
  memberIds: string[]
  /** Messages that wait were meant for another address. */
  moved: boolean
}

/**
 * Where a notification goes, with its credentials encrypted for its row. The masked address of an answer keeps the
 * stored one. A secret that is not sent is kept for the origin that it was entered for: users who may edit a
 * notification must not get signatures of a secret that they do not know sent to another address.
 *
 * @param before the stored one, for an update
 * @throws CruxError invalidArgument `url`, `memberIds`; missingParameter `url`, `memberIds`, `secret`;
 *   preconditionFailed `type`
 */
export async function readAddress(
  app: App,
  queries: Queries,
  teamId: string,
  id: string,
  write: NotificationWrite,
  before?: StoredNotification,
): Promise<Address> {
  if (write.type === 'email') {
    const memberIds = await readMembers(app, queries, teamId, write)
    return { url: null, secret: null, maskedUrl: '', memberIds, moved: before !== undefined && before.type !== 'email' }
  }
  const location = { column: 'notification.url', row: id } as const
  if (write.url === '') throw new CruxError('missingParameter', { property: 'url' })
  const keptUrl = before?.type === write.type && write.url === before.url ? before.sealedUrl : null
  if (keptUrl !== null)
    return {
      url: keptUrl,
      secret: readSecret(app, id, write, before?.sealedSecret ?? null),
      maskedUrl: write.url,
      memberIds: [],
      moved: false,
    }
  const parsed = parseNotificationUrl(write.type, write.url)
  // The address is a credential: no error repeats it.
  if (!parsed.ok) throw new CruxError('invalidArgument', { property: 'url', description: `${parsed.problem}.` })
  const stored = before && openUrl(app, before)
  if (before?.hasSecret && write.type === 'webhook' && write.secret === undefined && !isSameOrigin(stored, parsed.url))
    throw new CruxError('missingParameter', {
      property: 'secret',
      description: 'Another host needs the secret again.',
    })
  return {
    url: app.cipher.encrypt(parsed.url, location),
    secret: readSecret(app, id, write, before?.sealedSecret ?? null),
    maskedUrl: parsed.masked,
    memberIds: [],
    moved: before !== undefined && (before.type !== write.type || stored !== parsed.url),
  }
}

/** For callers that use it at once. @returns undefined when the key that encrypted it is missing */
export function openUrl(app: Pick<App, 'cipher' | 'log'>, row: { id: string; sealedUrl: string | null }) {
  return open(app, row.sealedUrl, { column: 'notification.url', row: row.id })
}

/** As `openUrl`. */
export function openSecret(app: Pick<App, 'cipher' | 'log'>, row: { id: string; secret: string | null }) {
  return open(app, row.secret, { column: 'notification.secret', row: row.id })
}

function open(
  app: Pick<App, 'cipher' | 'log'>,
  sealed: string | null,
  location: Parameters<App['cipher']['decrypt']>[1],
) {
  if (sealed === null) return undefined
  try {
    return app.cipher.decrypt(sealed, location)
  } catch (err) {
    app.log.warn({ err, notificationId: location.row }, 'the address or secret of a notification cannot be decrypted')
    return undefined
  }
}

/** `null` deletes the stored one. */
function readSecret(app: App, id: string, { type, secret }: NotificationWrite, stored: string | null): string | null {
  if (type !== 'webhook' || secret === null) return null
  if (secret === undefined) return stored
  return app.cipher.encrypt(secret, { column: 'notification.secret', row: id })
}

const isSameOrigin = (one: string | undefined, other: string) =>
  one !== undefined && new URL(one).origin === new URL(other).origin

async function readMembers(
  app: App,
  queries: Queries,
  teamId: string,
  { memberIds, active }: NotificationWrite,
): Promise<string[]> {
  if (active && !app.mail)
    throw new CruxError('preconditionFailed', {
      property: 'type',
      value: 'email',
      description: 'This installation cannot send mail: SMTP_URI is not set.',
    })
  const ids = [...new Set(memberIds ?? [])]
  if (ids.length === 0)
    throw new CruxError('missingParameter', { property: 'memberIds', description: 'Choose at least one member.' })
  const members = new Set(await selectMembers(queries, teamId, ids))
  const other = (memberIds ?? []).findIndex((userId) => !members.has(userId))
  if (other >= 0)
    throw new CruxError('invalidArgument', {
      property: `memberIds[${other}]`,
      value: memberIds?.[other],
      description: 'There is no such member in this team.',
    })
  return ids
}
