import { CruxError } from '@crux/contract'
import type { App } from '../context.ts'

/** @throws CruxError preconditionFailed `registryId` when the stored token was changed, or the key that encrypted it is missing */
export function openRegistryToken(
  app: Pick<App, 'cipher'>,
  row: { id: string; name: string; token: string | null },
): string {
  try {
    return app.cipher.decrypt(row.token ?? '', { column: 'registry.token', row: row.id })
  } catch (cause) {
    throw new CruxError('preconditionFailed', {
      property: 'registryId',
      value: row.id,
      description: `The credentials of ${row.name} cannot be opened any more: enter them again.`,
      cause,
    })
  }
}
