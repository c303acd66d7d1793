import { randomUUID } from 'node:crypto'
import {
  type ContainerConfig,
  ContainerConfigFields,
  type ContainerConfigPatch,
  CruxError,
  type ErrorDetail,
  isAllowed,
} from '@crux/contract'
import {
  addedHostDangers,
  applyConfigPatch,
  type ConfigProblem,
  fillRowIds,
  newProblems,
  validateConfig,
} from '@crux/rules'
import type { Caller, TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { keepStorage } from '../storages/index.ts'
import { configChanged } from './events.ts'
import { finalOfInstance } from './layers.ts'
import { withSealedSecrets } from './sealed-secrets.ts'
import { findConfig, lockConfig, type OwnedConfig, readChanges, toContainerConfig, writeConfig } from './store.ts'

/** @throws CruxError notFound */
export async function getConfig(app: App, team: TeamContext, configId: string): Promise<OwnedConfig> {
  const found = await findConfig(app.database.pool, team.id, configId)
  if (!found) throw notFound(configId)
  return found
}

export async function getConfigDetails(app: App, { team }: Caller, configId: string) {
  const found = await getConfig(app, team, configId)
  return { ...toContainerConfig(found.row), parent: found.parent }
}

export type PatchOutcome = { config: ContainerConfig; changed: boolean; configBundleId?: string | undefined }

/**
 * Changes one layer. Problems that the patch adds are refused; problems that existed before do not block it. The second
 * of two concurrent patches is validated against what the first one stored.
 *
 * @param origin the subscriber that sent the patch, so that others can recognise it
 * @throws CruxError notFound; invalidArgument `configId` (not mutable), `config.storage.storageId`,
 *   `config.secrets[i].value` (not encrypted for the node), or with `details` per property; keysAreUnique; forbidden
 *   (host-dangerous); patchConflict, whose `value` is `{conflicts, revision}`
 */
export async function patchConfig(
  app: App,
  caller: Caller,
  configId: string,
  patch: ContainerConfigPatch,
  origin?: string,
): Promise<PatchOutcome> {
  const outcome = await inTransaction(app.database, (queries) => changeConfig(queries, caller, configId, () => patch))
  publishChange(app, outcome, origin)
  return outcome
}

/** Creates the patch of a change while the layer is locked against other changes. */
type MakePatch = (
  before: ContainerConfigFields,
  queries: Queries,
) => ContainerConfigPatch | Promise<ContainerConfigPatch>

/** `patchConfig` inside a transaction of the caller, which publishes the change after the commit. */
export async function changeConfig(
  queries: Queries,
  { team, actor }: Caller,
  configId: string,
  makePatch: MakePatch,
): Promise<PatchOutcome> {
  await lockConfig(queries, configId)
  const config = await findConfig(queries, team.id, configId)
  if (!config) throw notFound(configId)
  if (!config.parent.mutable) throw immutable(config)
  const before = ContainerConfigFields.parse(config.row.fields)
  const patch = withSealedSecrets(config, before, await makePatch(before, queries))
  const changedAt = patch.revision === undefined ? new Map<string, number>() : await readChanges(queries, configId)
  const result = applyConfigPatch({ fields: before, patch, changedAt })
  if (result.kind === 'conflict')
    throw new CruxError('patchConflict', {
      property: result.conflicts[0]?.property,
      value: { conflicts: result.conflicts, revision: config.row.revision },
    })
  if (result.changed.length === 0) return { config: toContainerConfig(config.row), changed: false }
  const after = fillRowIds(result.fields, before, randomUUID)
  refuseProblems(newProblems(findProblems(config, before), findProblems(config, after)))
  refuseDangers(before, after, team)
  await refuseStorage(queries, before, after, team)
  const revision = config.row.revision + 1
  await writeConfig(queries, config, { fields: after, revision, changed: result.changed, userId: actor.id })
  const row = { ...config.row, fields: after, revision, updatedAt: new Date(), updatedBy: actor.id }
  return { config: toContainerConfig(row), changed: true, configBundleId: config.configBundle?.id }
}

export function publishChange(app: App, { config, changed, configBundleId }: PatchOutcome, origin?: string): void {
  if (changed) configChanged(app, { configId: config.id, revision: config.revision ?? 0, origin, configBundleId })
}

/** Problems of the layer by itself, and for an instance also of the merged configuration. */
function findProblems(config: OwnedConfig, fields: ContainerConfigFields): ConfigProblem[] {
  const { type } = config.row
  const target = { prefix: config.deployment?.prefix, nodeType: config.deployment?.node.type }
  const merged = finalOfInstance({ ...config, row: { ...config.row, fields } })
  // The layers below those of a deployment or a bundle differ from instance to instance.
  const own = validateConfig(fields, { ...target, below: merged ?? (type === 'image' ? undefined : 'unknown') })
  if (!merged) return own
  const known = new Set(own.map((problem) => problem.error))
  // Positions differ in the merged list; problems of the layer itself are reported once.
  return [...own, ...validateConfig(merged, target).filter((problem) => !known.has(problem.error))]
}

function refuseProblems(problems: ConfigProblem[]) {
  const [first] = problems
  if (!first) return
  const details: ErrorDetail[] = problems.map((problem) => ({ ...problem, property: `config.${problem.property}` }))
  throw new CruxError(first.error === 'keysAreUnique' ? 'keysAreUnique' : 'invalidArgument', {
    property: details[0]?.property,
    description: first.description,
    details,
  })
}

function refuseDangers(before: ContainerConfigFields, after: ContainerConfigFields, team: TeamContext) {
  if (isAllowed(team.role, 'container-configurations.host-dangerous')) return
  const dangers = addedHostDangers(before, after)
  const [first] = dangers
  if (!first) return
  throw new CruxError('forbidden', {
    property: `config.${first.property}`,
    value: first.value,
    description: `${first.reason}: only an admin of the team may set it.`,
    details: dangers.map((danger) => ({
      property: `config.${danger.property}`,
      error: 'hostDangerous',
      description: danger.reason,
    })),
  })
}

/**
 * Only the owner of a storage may name it: it must belong to the same team, and it cannot be deleted until the
 * transaction ends.
 */
async function refuseStorage(
  queries: Queries,
  before: ContainerConfigFields,
  after: ContainerConfigFields,
  team: TeamContext,
) {
  const storageId = after.storage?.storageId
  if (!storageId || storageId === before.storage?.storageId) return
  if (await keepStorage(queries, team.id, storageId)) return
  throw new CruxError('invalidArgument', {
    property: 'config.storage.storageId',
    value: storageId,
    description: 'There is no such storage in this team.',
  })
}

const notFound = (configId: string) => new CruxError('notFound', { property: 'configId', value: configId })

function immutable(config: OwnedConfig) {
  const what = config.deployment ? 'The deployment' : 'The version'
  return new CruxError('invalidArgument', {
    property: 'configId',
    value: config.row.id,
    description: `${what} cannot be changed any more: copy the deployment or increase the version.`,
  })
}
