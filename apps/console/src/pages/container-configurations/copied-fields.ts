import { type ContainerConfigField, type ContainerConfigFields, containerConfigFieldNames } from '@crux/contract'
import { diffConfig, fillRowIds, isUnset } from '@crux/rules'
import { changeLines } from '../deployments/change-lines.ts'
import type { Change } from './config-context.ts'
import { fieldOf } from './config-rows.ts'

export type FieldDifference = {
  field: ContainerConfigField
  lines: ReturnType<typeof changeLines>
  /** The other configuration does not set it: copying clears it here. */
  onlyHere: boolean
}

/** The changes by field that would make this configuration equal to the other one. Values of secrets are never compared. */
export function fieldDifferences(here: ContainerConfigFields, other: ContainerConfigFields): FieldDifference[] {
  const byField = new Map<string, ReturnType<typeof diffConfig>>()
  for (const change of diffConfig(withSecretKeys(here), withSecretKeys(other))) {
    const field = fieldOf(change.property)
    byField.set(field, [...(byField.get(field) ?? []), change])
  }
  return containerConfigFieldNames.flatMap((field) => {
    const changes = byField.get(field)
    if (!changes) return []
    return [{ field, lines: changeLines(changes), onlyHere: isUnset(field, other[field]) }]
  })
}

/** The edits that copy fields from another configuration. Secrets are copied as keys; values of this configuration stay. */
export function takenOver(
  here: ContainerConfigFields,
  other: ContainerConfigFields,
  fields: readonly ContainerConfigField[],
  newId: () => string,
): Change[] {
  const own = new Map((here.secrets ?? []).map((row) => [row.key, row]))
  const secrets = other.secrets?.map(({ key, required }) => ({ ...own.get(key), key, required }))
  const taken = JSON.parse(JSON.stringify({ ...other, secrets }, (name, value) => (name === 'id' ? undefined : value)))
  const filled = fillRowIds(taken as ContainerConfigFields, here, newId)
  return fields.map((field) => ({ field, value: filled[field] ?? null }))
}

const withSecretKeys = (fields: ContainerConfigFields): ContainerConfigFields => ({
  ...fields,
  secrets: fields.secrets?.map(({ key, required }) => ({ key, required })),
})
