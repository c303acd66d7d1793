import { type Body, ContainerConfigFields, CruxError, type ResponseInput } from '@crux/contract'
import { defaultContainerName, deploymentAction, mergeConfig, validateConfig } from '@crux/rules'
import type { Caller } from '../access/index.ts'
import { lockBundles } from '../config-bundles/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import {
  bundlesChanged,
  checkFree,
  checkMayProtect,
  checkProtect,
  deploymentsChanged,
  type LoadedDeployment,
  loadDeployment,
} from '../releases/index.ts'
import { findListRow, toDeployments } from './list-store.ts'
import { matchImages } from './match-images.ts'
import { prepareTarget, releaseTarget } from './prepared-target.ts'
import { removeContainers } from './remove-containers.ts'
import { listRunning } from './running-target-store.ts'
import { copyMatchedConfigs, selectImages, selectImagesOfDeployment } from './source-store.ts'
import {
  assertPrefix,
  copyBundles,
  copyConfigs,
  copyOwnConfig,
  deleteDeploymentRow,
  findTargetVersion,
  imageLayers,
  insertDeployment,
  isEmptyTarget,
  type NewDeployment,
  replaceBundles,
  reuseSecrets,
  type TargetVersion,
  updateDeploymentRow,
} from './store.ts'

/** Creates a deployment of a version for a node and prefix. */
export async function createDeployment(
  app: App,
  caller: Caller,
  body: Body<'deployments.create'>,
): Promise<ResponseInput<'deployments.create'>> {
  const { id, version } = await inTransaction(app.database, (queries) => addDeployment(queries, caller, body))
  prepareTarget(app, { ...version, nodeId: body.nodeId, prefix: body.prefix })
  return getCreated(app, caller.team.id, id)
}

/** Creates a deployment in the transaction of the caller, with all checks. */
export async function addDeployment(
  queries: Queries,
  { team, actor }: Caller,
  body: Body<'deployments.create'>,
): Promise<{ id: string; version: TargetVersion }> {
  const version = await findTargetVersion(queries, team.id, body)
  assertImages(version, body.versionId)
  const target = { ...body, versionType: version.type }
  await checkFree(queries, target)
  if (body.protected) await checkProtect(queries, team, target)
  await checkNames(queries, body.versionId, body.prefix)
  const id = await insertDeployment(queries, toNew(version, body, actor.id))
  await reuseSecrets(queries, id, body)
  return { id, version }
}

/**
 * Creates a deployment with the configuration of another one at the same node and prefix, in the transaction of the
 * caller: unprotected and preparing, with the same config bundles and with all secrets, because the node can read them.
 *
 * @param sourceId a deployment of an earlier version, which the caller has locked
 * @returns the images that no instance of the source matches; their instances are empty
 */
export async function addDeploymentFrom(
  queries: Queries,
  { team, actor }: Caller,
  body: Omit<Body<'deployments.create'>, 'protected'>,
  sourceId: string,
): Promise<{ id: string; unmatched: { name: string }[] }> {
  const version = await findTargetVersion(queries, team.id, body)
  assertImages(version, body.versionId)
  await checkFree(queries, { ...body, versionType: version.type })
  const id = await insertDeployment(queries, toNew(version, { ...body, protected: false }, actor.id))
  const [images, sources] = await Promise.all([
    selectImages(queries, body.versionId),
    selectImagesOfDeployment(queries, sourceId),
  ])
  const matches = matchImages(images, sources)
  const copy = { from: sourceId, to: id, userId: actor.id }
  await copyOwnConfig(queries, { ...copy, secrets: true })
  await copyMatchedConfigs(queries, copy, matches)
  await copyBundles(queries, copy)
  const created = await loadDeployment(queries, team.id, id, { lock: false })
  await checkNames(queries, body.versionId, body.prefix, created)
  return { id, unmatched: images.filter((image) => !matches.has(image.id)) }
}

function assertImages(version: TargetVersion, versionId: string): void {
  if (version.images > 0) return
  throw new CruxError('preconditionFailed', {
    property: 'versionId',
    value: versionId,
    description: 'This version has no images yet: add one first.',
  })
}

/** Updates note, prefix and protection. The deployment target must be free as for a new deployment, apart from this one. */
export async function updateDeployment(
  app: App,
  { team, actor }: Caller,
  id: string,
  body: Body<'deployments.update'>,
): Promise<void> {
  const { prefix, note } = body
  const { previous, empty, bundles } = await inTransaction(app.database, async (queries) => {
    const deployment = await loadDeployment(queries, team.id, id, { lock: 'place' })
    refuse(deployment, 'edit')
    assertPrefix(deployment.node.type, prefix)
    const target = toTarget(deployment, prefix)
    // An unchanged target is the deployment's own already, unless it is preparing.
    if (prefix !== deployment.prefix || deployment.status === 'preparing') await checkFree(queries, target)
    if (body.protected !== deployment.protected) checkMayProtect(team)
    if (body.protected && (!deployment.protected || prefix !== deployment.prefix))
      await checkProtect(queries, team, target)
    if (prefix !== deployment.prefix) await checkNames(queries, deployment.versionId, prefix, deployment)
    await updateDeploymentRow(queries, id, { prefix, note: note ?? null, protected: body.protected, userId: actor.id })
    const bundles = body.configBundles && (await attachBundles(queries, deployment, body.configBundles))
    return { previous: deployment, bundles, empty: await isEmptyTarget(queries, getOwner(deployment)) }
  })
  deploymentsChanged(app, [{ deploymentId: id, teamId: team.id, status: previous.status }])
  if (bundles) bundlesChanged(app, id, bundles.length)
  if (prefix === previous.prefix) return
  prepareTarget(app, { ...getOwner(previous), prefix })
  if (empty) releaseTarget(app, getOwner(previous))
}

/**
 * Copies a deployment of the same version with the same bundles to another deployment target, preparing and
 * unprotected. Values that only the old node can read are not copied.
 */
export async function copyDeployment(
  app: App,
  caller: Caller,
  sourceId: string,
  body: Body<'deployments.copy'>,
): Promise<ResponseInput<'deployments.copy'>> {
  const { team, actor } = caller
  const { id, version } = await inTransaction(app.database, async (queries) => {
    const source = await loadDeployment(queries, team.id, sourceId, { lock: 'place' })
    refuse(source, 'copy')
    const { versionId } = source
    const version = await findTargetVersion(queries, team.id, { versionId, nodeId: body.nodeId, prefix: body.prefix })
    const target = { ...body, versionId, versionType: version.type }
    await checkFree(queries, target, ['preparing', 'in-progress'])
    await checkNames(queries, versionId, body.prefix, source)
    const created = await insertDeployment(queries, toNew(version, { ...body, versionId, protected: false }, actor.id))
    await copyConfigs(queries, {
      from: sourceId,
      to: created,
      userId: actor.id,
      secrets: source.node.id === body.nodeId,
    })
    await copyBundles(queries, { from: sourceId, to: created })
    return { id: created, version }
  })
  prepareTarget(app, { ...version, nodeId: body.nodeId, prefix: body.prefix })
  return getCreated(app, team.id, id)
}

/** @param options.containers also removes its containers, if its release is the current one */
export async function deleteDeployment(
  app: App,
  caller: Caller,
  id: string,
  options: { containers: boolean },
): Promise<void> {
  const { team } = caller
  if (options.containers) {
    refuse(await loadDeployment(app.database.pool, team.id, id, { lock: false }), 'delete')
    // The containers are removed before the records, so that both are kept while the node is unavailable.
    await removeContainers(app, caller, await listRunning(app.database.pool, 'deployment', id))
  }
  const { deleted, empty } = await inTransaction(app.database, async (queries) => {
    const deployment = await loadDeployment(queries, team.id, id, { lock: true })
    refuse(deployment, 'delete')
    await deleteDeploymentRow(queries, id)
    return { deleted: deployment, empty: await isEmptyTarget(queries, getOwner(deployment)) }
  })
  if (empty) releaseTarget(app, getOwner(deleted))
}

/**
 * @returns the new list if it differs from the previous one
 * @throws CruxError notFound `configBundles`, also for those of another team; invalidArgument for duplicates
 */
async function attachBundles(
  queries: Queries,
  deployment: LoadedDeployment,
  wanted: readonly string[],
): Promise<readonly string[] | undefined> {
  const twice = wanted.find((id, index) => wanted.indexOf(id) !== index)
  if (twice)
    throw new CruxError('invalidArgument', {
      property: 'configBundles',
      value: twice,
      description: 'A config bundle can be used only once in a deployment.',
    })
  const held = await lockBundles(queries, deployment.teamId, wanted)
  const unknown = wanted.find((id) => !held.has(id))
  if (unknown) throw new CruxError('notFound', { property: 'configBundles', value: unknown })
  if (wanted.join() === deployment.bundles.map((bundle) => bundle.id).join()) return undefined
  await replaceBundles(queries, deployment, wanted)
  return wanted
}

function refuse(deployment: LoadedDeployment, action: 'edit' | 'copy' | 'delete') {
  const verdict = deploymentAction(action, { status: deployment.status, versionType: deployment.version.type })
  if (!verdict.allowed)
    throw new CruxError('preconditionFailed', { property: 'status', description: `${verdict.reason}.` })
}

/** Container names are checked with the prefix as soon as it is known, because name and prefix share the limit of 63 characters. */
async function checkNames(
  queries: Queries,
  versionId: string,
  prefix: string,
  source?: LoadedDeployment,
): Promise<void> {
  const names = source
    ? source.instances.map((instance) => instance.config.name)
    : (await imageLayers(queries, versionId)).map(({ name, fields }) => {
        const merged = mergeConfig({}, ContainerConfigFields.parse(fields))
        return merged.name || defaultContainerName(name)
      })
  const problems = names.flatMap((name, index) =>
    validateConfig({ name }, { prefix }).map((problem) => ({
      ...problem,
      property: `instances[${index}].config.name`,
    })),
  )
  const [first] = problems
  if (first)
    throw new CruxError('invalidArgument', {
      property: 'prefix',
      value: prefix,
      description: first.description,
      details: problems,
    })
}

const getOwner = ({ teamId, projectId, node, prefix }: LoadedDeployment) => ({
  teamId,
  projectId,
  nodeId: node.id,
  prefix,
})

const toTarget = (deployment: LoadedDeployment, prefix: string) => ({
  nodeId: deployment.node.id,
  prefix,
  versionId: deployment.versionId,
  versionType: deployment.version.type,
  exceptId: deployment.id,
})

const toNew = (
  version: TargetVersion,
  body: { versionId: string; nodeId: string; prefix: string; protected: boolean; note?: string | null | undefined },
  userId: string,
): NewDeployment => ({
  ...version,
  ...body,
  note: body.note ?? null,
  userId,
})

async function getCreated(app: App, teamId: string, id: string): Promise<ResponseInput<'deployments.create'>> {
  deploymentsChanged(app, [{ deploymentId: id, teamId, status: 'preparing' }])
  const row = await findListRow(app, teamId, id)
  const [deployment] = row ? await toDeployments(app, [row]) : []
  if (!deployment) throw new CruxError('notFound', { property: 'deploymentId', value: id })
  return deployment
}
