export {
  type ConfigDraft,
  type DraftContext,
  type FieldChange,
  findProblems,
  saveState,
  shownFields,
} from './config-draft.ts'
export { getFields } from './config-fields.ts'
export { type Conflicts, getField, isWithin } from './config-rows.ts'
export { copyFields, fieldDifferences } from './copied-fields.ts'
export { DraftSession } from './draft-session.ts'
export { type FieldStep, noHistory, recordEdit, redo, type Step, undo } from './edit-history.ts'
export { type EnvChange, envChanges, withEnvChanges } from './env-changes.ts'
export { formatEnvFile, parseEnvFile } from './env-file.ts'
export { type FieldTarget, findFieldTarget } from './field-target.ts'
export { type LayeredRow, layerRows, withoutRow, withRow } from './keyed-rows.ts'
export { newId } from './new-id.ts'
export { type Layer, type LowerLayers, listLowerLayers, mergeLowerLayers } from './parent-layers.ts'
export { parsePastedPorts, parsePastedVolumes } from './pasted-rows.ts'
export {
  type GroupChanges,
  type GroupMember,
  generateSecret,
  listSecretGroups,
  type SecretGroup,
  toGroupChanges,
} from './secret-groups.ts'
export {
  type AddedSecret,
  findAddedSecretProblems,
  findOverwrittenSecrets,
  hasTypedSecrets,
  type KnownSecrets,
  noTypedSecrets,
  type Secret,
  type SecretChange,
  type SecretRow,
  type SecretState,
  secretRows,
  type TypedSecrets,
  toSecretChanges,
  withAddedSecret,
  withoutSentSecrets,
  withSecretPairs,
  withSecretRemoved,
  withSecretValue,
} from './secret-rows.ts'
export { secretSources } from './secret-sources.ts'
export { portChanges, volumeChanges } from './side-effects.ts'
