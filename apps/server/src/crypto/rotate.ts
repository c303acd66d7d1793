import type { Database } from '@crux/postgres'
import { eq, isNotNull, sql } from 'drizzle-orm'
import type * as schema from '../db/schema/index.ts'
import { nodeInstall, nodeToken, registry, storage } from '../db/schema/index.ts'
import type { Cipher } from './cipher.ts'

/** Every column that holds a sealed secret, with the key of its row. */
const sealedColumns = [
  { table: registry, id: registry.id, column: registry.token, name: 'token' },
  { table: storage, id: storage.id, column: storage.accessKey, name: 'accessKey' },
  { table: storage, id: storage.id, column: storage.secretKey, name: 'secretKey' },
  { table: nodeToken, id: nodeToken.nodeId, column: nodeToken.nextToken, name: 'nextToken' },
  { table: nodeInstall, id: nodeInstall.nodeId, column: nodeInstall.token, name: 'token' },
] as const

/**
 * Seals every stored secret under the current key. One transaction: a secret that cannot be opened changes nothing, and
 * the deprecated key may go as soon as this has returned.
 *
 * @returns how many secrets were sealed anew
 */
export async function resealAll(database: Database<typeof schema>, cipher: Cipher): Promise<number> {
  return database.transaction(async (tx) => {
    let resealed = 0
    for (const { table, id, column, name } of sealedColumns) {
      const rows = await tx
        .select({ id: sql<string>`${id}`, sealed: sql<string>`${column}` })
        .from(table)
        .where(isNotNull(column))
        .for('update')
      for (const row of rows) {
        const fresh = cipher.reseal(row.sealed)
        if (fresh === undefined) continue
        await tx
          .update(table)
          .set({ [name]: fresh })
          .where(eq(id, row.id))
        resealed++
      }
    }
    return resealed
  })
}
