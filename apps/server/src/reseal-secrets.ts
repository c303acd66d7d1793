import type { Database } from '@crux/postgres'
import { eq, isNotNull, sql } from 'drizzle-orm'
import type { Cipher } from './crypto/index.ts'
import type * as schema from './db/schema/index.ts'
import { nodeInstall, nodeToken, nodeUpdate, notification, registry, registryHook, storage } from './db/schema/index.ts'
import { type InvitationMailJob, invitationMailJob, invitationSecret } from './teams/index.ts'

/** Every column with encrypted secrets, with the key of its row. */
export const sealedColumns = [
  { table: registry, id: registry.id, column: registry.token, name: 'token', location: 'registry.token' },
  {
    table: registryHook,
    id: registryHook.id,
    column: registryHook.secret,
    name: 'secret',
    location: 'registry_hook.secret',
  },
  { table: storage, id: storage.id, column: storage.accessKey, name: 'accessKey', location: 'storage.access_key' },
  { table: storage, id: storage.id, column: storage.secretKey, name: 'secretKey', location: 'storage.secret_key' },
  {
    table: nodeToken,
    id: nodeToken.nodeId,
    column: nodeToken.nextToken,
    name: 'nextToken',
    location: 'node_token.next_token',
  },
  {
    table: nodeInstall,
    id: nodeInstall.nodeId,
    column: nodeInstall.token,
    name: 'token',
    location: 'node_install.token',
  },
  { table: notification, id: notification.id, column: notification.url, name: 'url', location: 'notification.url' },
  {
    table: notification,
    id: notification.id,
    column: notification.secret,
    name: 'secret',
    location: 'notification.secret',
  },
  { table: nodeUpdate, id: nodeUpdate.nodeId, column: nodeUpdate.token, name: 'token', location: 'node_update.token' },
] as const

/**
 * Encrypts every stored secret with the current key. It is one transaction: a secret that cannot be decrypted changes
 * nothing, and the deprecated key may be deleted once this has returned.
 *
 * @returns how many secrets were encrypted again
 */
export async function resealAll(database: Database<typeof schema>, cipher: Cipher): Promise<number> {
  return database.transaction(async (tx) => {
    let resealed = 0
    for (const { table, id, column, name, location } of sealedColumns) {
      const rows = await tx
        .select({ id: sql<string>`${id}`, sealed: sql<string>`${column}` })
        .from(table)
        .where(isNotNull(column))
        .for('update')
      for (const row of rows) {
        const fresh = cipher.reseal(row.sealed, { column: location, row: row.id })
        if (fresh === undefined) continue
        await tx
          .update(table)
          .set({ [name]: fresh })
          .where(eq(id, row.id))
        resealed++
      }
    }
    return resealed + (await resealJobs(tx, cipher))
  })
}

/** Queued mails of invitations contain a secret. The queue does not exist before the first start of a server. */
async function resealJobs(tx: Pick<Database<typeof schema>['db'], 'execute'>, cipher: Cipher): Promise<number> {
  const { rows: found } = await tx.execute<{ table: string | null }>(sql`select to_regclass('jobs.job')::text as table`)
  if (!found[0]?.table) return 0
  const { rows } = await tx.execute<{ id: string; data: InvitationMailJob }>(
    sql`select id, data from jobs.job where name = ${invitationMailJob} and state < 'active' for update`,
  )
  let resealed = 0
  for (const { id, data } of rows) {
    const fresh = cipher.reseal(data.secret, invitationSecret(data))
    if (fresh === undefined) continue
    await tx.execute(
      sql`update jobs.job set data = jsonb_set(data, '{secret}', to_jsonb(${fresh}::text)) where name = ${invitationMailJob} and id = ${id}`,
    )
    resealed++
  }
  return resealed
}
