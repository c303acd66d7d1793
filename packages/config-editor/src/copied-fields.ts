import { type ContainerConfigField, type ContainerConfigFields, containerConfigFieldNames } from '@crux/contract'
import { diffConfig, fillRowIds, isUnset } from '@crux/rules'
import type { FieldChange } from './config-draft.ts'
import { getField } from './config-rows.ts'

type ConfigChange = ReturnType<typeof diffConfig>[number]

export type FieldDifference = {
  field: ContainerConfigField
  changes: ConfigChange[]
  /** The other configuration does not set it: copying clears it here. */
  onlyHere: boolean
}

/** The changes by field that would make this configuration equal to the other one. Values of secrets are never compared. */
export function fieldDifferences(here: ContainerConfigFields, other: ContainerConfigFields): FieldDifference[] {
  const byField = new Map<string, ConfigChange[]>()
  for (const change of diffConfig(withSecretKeys(here), withSecretKeys(other))) {
    const field = getField(change.property)
    byField.set(field, [...(byField.get(field) ?? []), change])
  }
  return containerConfigFieldNames.flatMap((field) => {
    const changes = byField.get(field)
    if (!changes) return []
    return [{ field, changes, onlyHere: isUnset(field, other[field]) }]
  })
}

/** The edits that copy fields from another configuration. Secrets are copied as keys; values of this configuration stay. */
export function copyFields(
  here: ContainerConfigFields,
  other: ContainerConfigFields,
  fields: readonly ContainerConfigField[],
  newId: () => string,
): FieldChange[] {
  const own = new Map((here.secrets ?? []).map((row) => [row.key, row]))
  const secrets = other.secrets?.map(({ key, required, generate }) => ({
    ...own.get(key),
    key,
    required,
    ...(generate && { generate }),
  }))
  const taken: ContainerConfigFields = JSON.parse(
    JSON.stringify({ ...other, secrets }, (name, value) => (name === 'id' ? undefined : value)),
  )
  const filled = fillRowIds(taken, here, newId)
  return fields.map((field) => ({ field, value: filled[field] ?? null }))
}

const withSecretKeys = (fields: ContainerConfigFields): ContainerConfigFields => ({
  ...fields,
  secrets: fields.secrets?.map(({ key, required, generate }) => ({ key, required, generate })),
})
