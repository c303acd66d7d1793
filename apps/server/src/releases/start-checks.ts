import { CruxError, type ErrorDetail, isAllowed } from '@crux/contract'
import {
  bundleConflicts,
  conflictFields,
  deploymentAction,
  kubernetesUnavailable,
  labelRuleProblems,
  labelRules,
  missingSecrets,
  nodeTakesDeployments,
  validateConfig,
  validateRelease,
} from '@crux/rules'
import type { Queries } from '../db/queries.ts'
import { lockStorages } from '../storages/index.ts'
import { judgeDangers, unconfirmedText } from './confirmations.ts'
import type { LoadedDeployment } from './deployment-store.ts'
import { checkFreeze } from './freezes.ts'
import { checkRoutes } from './route-checks.ts'
import { checkStaleSecrets } from './stale-secrets.ts'
import type { Planned, StartRequest } from './start-request.ts'
import { findOtherProtected } from './target-store.ts'

/** The instances of a start: all, or those that it names. @throws CruxError notFound `instances` */
export function chooseInstances(deployment: LoadedDeployment, ids: readonly string[] | undefined) {
  if (!ids) return deployment.instances
  const wanted = new Set(ids)
  const unknown = ids.find((id) => !deployment.instances.some((instance) => instance.id === id))
  if (unknown) throw new CruxError('notFound', { property: 'instances', value: unknown })
  return deployment.instances.filter((instance) => wanted.has(instance.id))
}

/** Checks the status before anything else. A start that is already in progress is a conflict, not a wrong state. */
export function checkStatus(deployment: LoadedDeployment, action: 'deploy' | 'roll-back'): CruxError | undefined {
  if (deployment.status === 'in-progress')
    return new CruxError('alreadyExists', {
      property: 'id',
      value: deployment.id,
      description: 'A release of this deployment is in progress already.',
    })
  const verdict = deploymentAction(action, { status: deployment.status, versionType: deployment.version.type })
  return verdict.allowed
    ? undefined
    : new CruxError('preconditionFailed', { property: 'status', description: `${verdict.reason}.` })
}

/**
 * All other problems of a start, in the order in which they are reported. A start throws the first, a preview lists
 * all.
 */
export async function startProblems(
  queries: Queries,
  deployment: LoadedDeployment,
  instances: readonly Planned[],
  request: StartRequest,
): Promise<CruxError[]> {
  const problems = await Promise.all([
    checkFreeze(queries, deployment, request),
    checkInstances(instances),
    checkConfigs(deployment, instances, request),
    request.from === 'layers' ? checkLabels(deployment, instances) : undefined,
    request.from === 'layers' ? checkBundles(deployment) : undefined,
    checkStorages(queries, deployment, instances),
    checkDangers(queries, deployment, instances, request),
    checkRoutes(queries, deployment, instances, request.cruxUrl),
    checkMissingSecrets(instances),
    checkEncryption(deployment, instances),
    checkNode(deployment),
    checkProtection(queries, deployment, request),
    checkPublicKey(deployment, instances),
    checkStaleSecrets(deployment, instances, request),
  ])
  return problems.filter((problem) => problem !== undefined)
}

function checkInstances(instances: readonly Planned[]) {
  if (instances.length > 0) return undefined
  return new CruxError('preconditionFailed', {
    property: 'instances',
    description: 'There is nothing to deploy: add an image to the version, or choose at least one.',
  })
}

function checkConfigs(deployment: LoadedDeployment, instances: readonly Planned[], request: StartRequest) {
  const details: ErrorDetail[] = [
    ...(request.from === 'layers' ? layerProblems(deployment) : []),
    ...validateRelease(deployment.prefix, instances, deployment.node.type),
    ...clusterProblems(deployment, instances),
  ]
  const [first] = details
  if (!first) return undefined
  const code =
    first.error === 'keysAreUnique' || first.error === 'containerNameAreUnique' ? first.error : 'invalidArgument'
  return new CruxError(code, { property: first.property, description: first.description, details })
}

function clusterProblems({ node }: LoadedDeployment, instances: readonly Planned[]): ErrorDetail[] {
  if (node.type !== 'k8s') return []
  const ingressClass = node.cluster?.ingressClass ?? null
  return instances.flatMap(({ config }, index) =>
    kubernetesUnavailable(config, { ingressClass }).map(({ property, error, description }) => ({
      property: `instances[${index}].config.${property}`,
      error,
      description: `${config.name}: ${description}`,
    })),
  )
}

/** Problems of a single layer are reported at the layer, where the user can fix them. */
function layerProblems({ fields, prefix, bundles, node }: LoadedDeployment): ErrorDetail[] {
  const target = { prefix, nodeType: node.type, below: 'unknown' as const }
  const addProblems = (property: string, problems: ErrorDetail[]) =>
    problems.map((problem) => ({ ...problem, property: `${property}.${problem.property}` }))
  return [
    ...addProblems('config', validateConfig(fields, target)),
    ...bundles.flatMap((bundle, index) =>
      addProblems(`configBundles[${index}].config`, validateConfig(bundle.fields, target)),
    ),
  ]
}

/** Environment variables and secrets that the images require with their labels. */
function checkLabels(deployment: LoadedDeployment, instances: readonly Planned[]) {
  const labels = new Map(deployment.instances.map(({ id, image }) => [id, image.labels]))
  const details = instances.flatMap(({ id, config }, index) =>
    labelRuleProblems(config, labelRules(labels.get(id) ?? {}).rules).map((problem) => ({
      ...problem,
      property: `instances[${index}].config.${problem.property}`,
      description: `${config.name}: ${problem.description}`,
    })),
  )
  const [first] = details
  if (!first) return undefined
  return new CruxError('invalidArgument', { property: first.property, description: first.description, details })
}

/** When bundles differ in a key the value is undefined until the deployment defines the key. */
function checkBundles({ bundles, fields }: LoadedDeployment) {
  const conflicts = bundleConflicts(bundles, fields)
  const [first] = conflicts
  if (!first) return undefined
  return new CruxError('preconditionFailed', {
    property: 'configBundles',
    value: conflictFields(conflicts).join(','),
    description: `${first.description.charAt(0).toUpperCase()}${first.description.slice(1)}.`,
    details: conflicts.map(({ property, error, description }) => ({ property, error, description })),
  })
}

/**
 * Only an earlier release can name a deleted storage: a storage that a current configuration names cannot be deleted.
 */
async function checkStorages(queries: Queries, { teamId }: LoadedDeployment, instances: readonly Planned[]) {
  const using = instances.filter(({ config }) => config.storage?.storageId)
  if (using.length === 0) return undefined
  const ids = [...new Set(using.map(({ config }) => config.storage?.storageId ?? ''))]
  const there = await lockStorages(queries, teamId, ids)
  const lost = using.filter(({ config }) => !there.has(config.storage?.storageId ?? ''))
  return lost.length === 0 ? undefined : lostStorages(lost.map(({ id, config }) => ({ id, name: config.name })))
}

export const lostStorages = (lost: readonly { id: string; name: string }[]) =>
  new CruxError('preconditionFailed', {
    property: 'instances',
    value: lost.map(({ id }) => id),
    description: `${lost.map(({ name }) => name).join(', ')}: the storage that files are imported from was deleted.`,
  })

/**
 * The role decides for a user who is signed in. A token may start exactly what an admin confirmed: its existing use
 * continues, and later changes are refused.
 */
async function checkDangers(
  queries: Queries,
  deployment: LoadedDeployment,
  instances: readonly Planned[],
  { team, actor }: StartRequest,
) {
  const isSession = actor.sessionId !== undefined
  if (isSession && isAllowed(team.role, 'container-configurations.host-dangerous')) return undefined
  const refused = (await judgeDangers(queries, deployment, instances)).filter((one) => isSession || !one.isConfirmed)
  const details = refused.flatMap(({ instanceId, containerName, dangers }) =>
    dangers.map((danger) => ({
      property: `instances[${instances.findIndex(({ id }) => id === instanceId)}].config.${danger.property}`,
      error: 'hostDangerous',
      description: `${containerName}: ${danger.reason}`,
    })),
  )
  const [first] = details
  const [refusedFirst] = refused
  if (!first || !refusedFirst) return undefined
  const way = isSession ? 'Only an admin of the team may deploy it.' : unconfirmedText(refusedFirst)
  return new CruxError('forbidden', {
    property: first.property,
    description: `${first.description}. ${way}`,
    // A preview shows only the details.
    details: isSession ? details : details.map((one) => ({ ...one, description: `${one.description}. ${way}` })),
  })
}

function checkMissingSecrets(instances: readonly Planned[]) {
  const missing = instances.filter(({ config }) => missingSecrets(config).length > 0)
  if (missing.length === 0) return undefined
  return new CruxError('preconditionFailed', {
    property: 'instanceIds',
    value: missing.map((instance) => instance.id),
    description: `Required secrets have no value: ${missing.map(({ config }) => `${config.name} (${missingSecrets(config).join(', ')})`).join('; ')}.`,
    details: instances.flatMap(({ config }, index) =>
      missingSecrets(config).map((key) => ({
        property: `instances[${index}].config.secrets.${key}`,
        error: 'missingSecret',
        description: `${config.name}: the required secret ${key} has no value.`,
      })),
    ),
  })
}

/** The browser cannot encrypt a value while the node has never connected. Such a value is never sent to an agent. */
function checkEncryption(deployment: LoadedDeployment, instances: readonly Planned[]) {
  const plain = instances.flatMap(({ configId, config }) => {
    const keys = config.secrets.filter((row) => row.value && row.encrypted !== true).map((row) => row.key)
    return keys.length > 0 ? [{ configId, secretKeys: keys }] : []
  })
  if (plain.length === 0) return undefined
  return new CruxError('preconditionFailed', {
    property: 'instanceSecrets',
    value: plain,
    description: `Secrets are not encrypted for ${deployment.node.name} yet: open the configuration and save them again.`,
  })
}

function checkNode({ node }: LoadedDeployment) {
  const verdict = nodeTakesDeployments(node)
  if (verdict.allowed) return undefined
  return new CruxError('preconditionFailed', { property: 'nodeId', value: node.id, description: `${verdict.reason}.` })
}

async function checkProtection(queries: Queries, deployment: LoadedDeployment, request: StartRequest) {
  if (deployment.protected) return undefined
  const other = await findOtherProtected(queries, {
    nodeId: deployment.node.id,
    prefix: deployment.prefix,
    versionId: deployment.versionId,
    versionType: deployment.version.type,
    exceptId: deployment.id,
  })
  if (!other) return undefined
  if (!request.ignoreProtected)
    return new CruxError('preconditionFailed', {
      property: 'protectedDeploymentId',
      value: other,
      description: `A protected deployment holds ${deployment.prefix} on ${deployment.node.name}.`,
    })
  if (isAllowed(request.team.role, 'deployments.protect')) return undefined
  return new CruxError('forbidden', {
    property: 'protectedDeploymentId',
    value: other,
    description: 'Only an admin of the team may deploy over a protected deployment.',
  })
}

function checkPublicKey(deployment: LoadedDeployment, instances: readonly Planned[]) {
  if (deployment.node.publicKey || instances.every(({ config }) => config.secrets.length === 0)) return undefined
  return new CruxError('preconditionFailed', {
    property: 'publicKey',
    description: `${deployment.node.name} has no key for secrets: connect its agent again.`,
  })
}
