import { randomUUID } from 'node:crypto'
import type { ContainerConfigFields, ErrorDetail } from '@crux/contract'
import { addedHostDangers, applyConfigPatch, fillRowIds, type HostDanger, validateConfig } from '@crux/rules'
import { toBaseSecrets } from './sealed-secrets.ts'

export type NewLayer = {
  /** In the form to store: without unset settings, each row with an id. */
  fields: ContainerConfigFields
  problems: ErrorDetail[]
  /** What only an admin may set. */
  dangers: HostDanger[]
}

/** The layer of a new image or bundle, judged as a change of an empty layer is, so that an import grants nothing more. */
export function readNewLayer(config: ContainerConfigFields): NewLayer {
  const { secrets, problems } = toBaseSecrets(config.secrets ?? [])
  const patch = { config: { ...config, ...(config.secrets && { secrets }) } }
  const applied = applyConfigPatch({ fields: {}, patch, changedAt: new Map() })
  const fields = applied.kind === 'applied' ? fillRowIds(applied.fields, {}, randomUUID) : {}
  return { fields, problems: [...problems, ...validateConfig(fields)], dangers: addedHostDangers({}, fields) }
}
