import type { ContainerConfigFields } from '@crux/contract'
import type { Queries } from '../db/transaction.ts'
import type { LoadedDeployment } from './load.ts'

/**
 * Empties values that only a key could open which the node no longer has, and stamps the new key on them (backend.md 4.5 step 9):
 * the page then asks for them again.
 */
export async function voidSecrets(queries: Queries, deployment: LoadedDeployment, userId: string): Promise<void> {
  const { publicKey } = deployment.node
  const layers = [{ configId: deployment.configId, fields: deployment.fields }, ...deployment.instances]
  for (const { configId, fields } of layers) {
    if (!fields.secrets?.some((row) => row.value && row.publicKey !== publicKey)) continue
    const next: ContainerConfigFields = {
      ...fields,
      secrets: fields.secrets.map((row) =>
        row.value && row.publicKey !== publicKey ? { ...row, value: '', encrypted: false, publicKey } : row,
      ),
    }
    await queries.query(
      `update crux.container_config set fields = $2, revision = revision + 1, updated_at = now(), updated_by = $3
       where id = $1`,
      [configId, JSON.stringify(next), userId],
    )
  }
}
