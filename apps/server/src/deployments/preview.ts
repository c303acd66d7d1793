import { CruxError, type NodeType, type ResponseInput } from '@crux/contract'
import {
  diffConfig,
  downtimeForecast,
  heldPorts,
  kubernetesPauseReason,
  labelRules,
  notApplied,
  pauseReason,
  sameValue,
  silentPorts,
  volumeWarnings,
  withoutIds,
} from '@crux/rules'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import {
  type CurrentContainer,
  checkStatus,
  chooseInstances,
  currentContainers,
  type DangerousInstance,
  findRelease,
  hashSubjects,
  judgeDangers,
  type LoadedDeployment,
  loadDeployment,
  type MeasuredDowntime,
  measuredPauses,
  readSubjects,
  refuseUnsuccessful,
  releaseInstances,
  type Startable,
  type Subjects,
  startProblems,
  toPlanned,
  toReleaseImage,
} from '../releases/index.ts'
import { pendingDigests } from './instance-store.ts'
import { missingImages } from './missing-images.ts'
import { findNamesInUse } from './names-in-use.ts'
import type { Next, Warnings } from './next-release.ts'
import { findPortsInUse } from './ports-in-use.ts'
import { prepareTarget } from './prepared-target.ts'

type Preview = ResponseInput<'deployments.preview'>
/**
 * Previews the effects of a start, by comparing it with the records of the running containers and running the checks of
 * a start.
 *
 * @param ids the instances of the start; absent: all
 * @throws CruxError notFound, also `instances`
 */
export async function previewStart(
  app: App,
  { team, actor }: Caller,
  deploymentId: string,
  ids?: readonly string[],
): Promise<Preview> {
  const read = await readStart(app.database.pool, { team, actor }, app.config.url, deploymentId, ids)
  // A user who requests a preview is likely to start soon.
  if (read.problems.length === 0) prepareTarget(app, read.deployment)
  return completePreview(app, read)
}

/** What a preview reads of the database; `completePreview` asks the agent and adds the rest. */
export type ReadPreview = {
  deployment: LoadedDeployment
  next: Next[]
  problems: readonly CruxError[]
  partial: boolean
  subjects: Subjects
  current: CurrentContainer[]
  dangerous: DangerousInstance[]
}

/**
 * Reads what a start would deploy now.
 *
 * @param queries the transaction of a deployment that is not committed, or the pool
 */
export async function readStart(
  queries: Queries,
  { team, actor }: Caller,
  cruxUrl: string,
  deploymentId: string,
  ids?: readonly string[],
): Promise<ReadPreview> {
  const deployment = await loadDeployment(queries, team.id, deploymentId, { lock: false })
  const status = checkStatus(deployment, 'deploy')
  const request = { team, actor, ignoreProtected: false, from: 'layers', cruxUrl } as const
  const chosen = chooseInstances(deployment, ids)
  const [problems, pending] = await Promise.all([
    startProblems(queries, deployment, chosen, request),
    pendingDigests(queries, deployment.id),
  ])
  const next = chosen.map(({ id, image, config }): Next => {
    const { registryId, localOnly, reference, labels } = image
    const broken = labelRules(labels).problems
    return {
      instanceId: id,
      registryId,
      localOnly,
      imageName: reference,
      ...toReleaseImage(image),
      pendingDigest: pending.get(id),
      preparationDigests: {},
      config,
      warnings: broken.map(({ label, description }) => ({
        property: 'labels',
        description: `${label}: ${description}`,
      })),
    }
  })
  const partial = chosen.length < deployment.instances.length
  const all = status ? [status, ...problems] : problems
  return readRunning(queries, { deployment, next, problems: all, partial }, chosen)
}

/**
 * Previews the changes of a rollback to an earlier release, and the problems that prevent it now.
 *
 * @throws CruxError notFound `number`
 */
export async function previewRelease(
  app: App,
  { team, actor }: Caller,
  deploymentId: string,
  number: number,
): Promise<Preview> {
  const { pool } = app.database
  const deployment = await loadDeployment(pool, team.id, deploymentId, { lock: false })
  const source = await findRelease(pool, deploymentId, number)
  if (!source) throw new CruxError('notFound', { property: 'number', value: number })
  const rows = await releaseInstances(pool, source.id)
  const planned = rows.map(toPlanned)
  const request = { team, actor, ignoreProtected: false, from: 'release', cruxUrl: app.config.url } as const
  const problems = [
    checkStatus(deployment, 'roll-back'),
    refuseUnsuccessful(source),
    ...(await startProblems(pool, deployment, planned, request)),
  ]
  const next = rows.map((row): Next => ({ ...row, warnings: [], isEarlier: true }))
  const found = problems.filter((problem) => problem !== undefined)
  return completePreview(
    app,
    await readRunning(pool, { deployment, next, problems: found, partial: source.partial }, planned),
  )
}

async function readRunning(
  queries: Queries,
  read: Pick<ReadPreview, 'deployment' | 'next' | 'problems' | 'partial'>,
  planned: readonly Startable[],
): Promise<ReadPreview> {
  const subjects = await readSubjects(queries, read.deployment, planned)
  const [current, dangerous] = await Promise.all([
    currentContainers(queries, read.deployment),
    judgeDangers(queries, read.deployment, planned, subjects),
  ])
  return { ...read, subjects, current, dangerous }
}

/** Also for a deployment that has been rolled back: nothing of it is read again. */
export async function completePreview(app: App, read: ReadPreview): Promise<Preview> {
  const { deployment, next, problems, partial, subjects, current, dangerous } = read
  const { pool } = app.database
  const [missing, portsInUse, namesInUse] = await Promise.all([
    missingImages(app, deployment, next),
    findPortsInUse(app, deployment, next),
    findNamesInUse(app, deployment, next),
  ])
  // A partial release keeps the containers that it does not name, whatever they contain.
  const leaving = partial ? current.filter((one) => next.some((other) => replaces(other, one))) : current
  const staying = current.filter((one) => !leaving.includes(one))
  const instances = next.map((one) => {
    const shown = previewInstance(deployment, one, leaving)
    // A cluster publishes no ports of its machines, and its services keep theirs.
    const isOnDocker = deployment.node.type === 'docker'
    const ports =
      isOnDocker && shown.action === 'replace-with-pause'
        ? silentPorts({ name: one.config.name, config: one.config }, leaving)
        : []
    const warnings = [
      ...one.warnings,
      ...(missing.get(one.instanceId) ?? []),
      ...listWarnings(deployment, one, current),
      ...(isOnDocker ? heldPorts({ name: one.config.name, config: one.config }, staying) : []),
    ]
    return { ...shown, ports, warnings }
  })
  const pauses = instances.some(({ ports }) => ports.length > 0)
    ? await measuredPauses(pool, deployment)
    : new Map<string, MeasuredDowntime>()
  const forecast = (name: string) =>
    downtimeForecast(leaving.find((one) => one.name === name)?.config ?? {}, pauses.get(name))
  const kept = new Set(next.map(({ config }) => config.name))
  return {
    hash: hashSubjects(subjects),
    instances: instances.map(({ ports, ...shown }) => ({
      ...shown,
      silentPorts: ports.map((port) => ({ ...port, ...forecast(shown.containerName) })),
    })),
    removed: leaving.filter((one) => !kept.has(one.name)).map((one) => `${deployment.prefix}-${one.name}`),
    problems: [...problems.flatMap((problem) => toProblems(problem, next)), ...namesInUse, ...portsInUse],
    ...(dangerous.length > 0 && { hostDangerous: dangerous.map(toHostDangerous) }),
  }
}

/** The part that affects the node's host, and what an admin has confirmed of it. */
const toHostDangerous = ({
  instanceId,
  containerName,
  dangers,
  confirmation,
  isConfirmed,
  changes,
}: DangerousInstance) => ({
  instanceId,
  containerName,
  dangers: dangers.map(({ property, value, reason }) => ({ property, value, description: reason })),
  confirmed: isConfirmed,
  confirmation: confirmation && {
    at: confirmation.at,
    by: { id: confirmation.byId, name: confirmation.byName },
  },
  changes,
})

function previewInstance(
  { node, prefix }: LoadedDeployment,
  next: Next,
  leaving: readonly CurrentContainer[],
): Omit<Preview['instances'][number], 'silentPorts' | 'warnings'> {
  const { config, imageTag } = next
  const digest = next.digest ?? next.pendingDigest
  const shown = { instanceId: next.instanceId, containerName: config.name }
  const old = leaving.find((one) => one.name === config.name)
  const container = { name: config.name, config }
  const pause =
    node.type === 'k8s' ? kubernetesPauseReason(container, leaving) : pauseReason(prefix, container, leaving)
  if (!old) return { ...shown, action: pause ? 'replace-with-pause' : 'create', reason: pause ?? null, changes: [] }
  const changes = [
    ...change('image', old.imageName, next.imageName),
    ...change('tag', old.imageTag, imageTag),
    // The image of a tag is known only after the agent has resolved it, unless the tag is followed.
    ...(digest && old.digest ? change('digest', old.digest, digest) : []),
    ...Object.entries(next.preparationDigests).flatMap(([image, digest]) =>
      change(`digest.${image}`, old.preparationDigests[image] ?? digest, digest),
    ),
    ...diffConfig(old.config, config),
  ]
  if (changes.length > 0 || !sameValue(withoutIds(old.config), withoutIds(config)))
    return { ...shown, action: pause ? 'replace-with-pause' : 'replace', reason: pause ?? null, changes }
  const reason = next.digest && old.digest ? 'Unchanged' : `Unchanged, unless ${imageTag} names another image by now`
  return { ...shown, action: 'keep', reason, changes: [] }
}

/** It replaces the container of the same name, or the same instance under its previous name. */
const replaces = ({ instanceId, config }: Next, old: CurrentContainer) =>
  old.name === config.name || old.instanceId === instanceId

const change = (property: string, from: string, to: string) => (from === to ? [] : [{ property, from, to }])

function listWarnings(
  { prefix, node }: { prefix: string; node: { type: NodeType } },
  next: Next,
  current: readonly CurrentContainer[],
): Warnings {
  const { config, instanceId } = next
  const old = current.find((one) => one.name === config.name) ?? current.find((one) => one.instanceId === instanceId)
  const idle = notApplied(config, node.type).map(({ property, description }) => ({ property, description }))
  return [...idle, ...(old ? volumeWarnings({ nodeType: node.type, prefix }, { name: config.name, config }, old) : [])]
}

/** One entry per detail, so that the page can show each at its place. */
function toProblems(problem: CruxError, next: readonly Next[]): Preview['problems'] {
  const details = problem.details ?? [
    { property: problem.property ?? '', error: problem.code, description: problem.message },
  ]
  return details.map((detail) => {
    const index = /^instances\[(\d+)\]/.exec(detail.property)?.[1]
    return { ...detail, instanceId: index === undefined ? null : (next[Number(index)]?.instanceId ?? null) }
  })
}
