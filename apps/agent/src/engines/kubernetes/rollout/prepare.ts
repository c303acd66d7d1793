import type { Instance, Release } from '@crux/agent-protocol'
import { findSharedClaims, notApplied } from '@crux/rules'
import { allOrFirstError } from '../../../concurrency/all-or-first-error.ts'
import { AbortedError, getMessage, isEngineError, PlanError } from '../../../errors.ts'
import { Phase } from '../../../journal/progress-reporter.ts'
import { type OpenedSecrets, openSecrets } from '../../../secrets/environment.ts'
import { checkRelease } from '../../check-release.ts'
import { toRegistryCredentials } from '../../images/credentials.ts'
import { getRegistry, type ImageReference, imageKey, type RegistryCredentials } from '../../images/image-reference.ts'
import { retryWhileUnavailable, type WaitReport } from '../../retry-while-unavailable.ts'
import { type ClusterSettings, toClusterSettings } from '../plan/cluster-settings.ts'
import { type DesiredWorkload, toDesiredWorkload } from '../plan/desired-workload.ts'
import { isLocalInitImage, listPreparationImages } from '../plan/init-containers.ts'
import { type ResolvedWorkload, toManifests } from '../plan/manifests.ts'
import { hasPreparation, type PreparationParts } from '../plan/preparation.ts'
import { checkNamespace } from './check-namespace.ts'
import type { ClusterNode, ReleaseContext } from './release-context.ts'

/**
 * Checks the release, opens its secrets and resolves its images. Talks to registries, and changes nothing.
 *
 * @throws PlanError that names the instance
 */
export async function prepareWorkloads(context: ReleaseContext): Promise<ResolvedWorkload[]> {
  const { node, progressReporter, release, signal } = context
  const desired = await toDesiredWorkloads(node, release, signal, context)
  refuseSharedClaims(desired)
  const secrets = await openWorkloadSecrets(node, desired)
  progressReporter.hide([...secrets.values()].flatMap((values) => Object.values(values)))
  progressReporter.hide(listAccessKeys(release))
  const tools = await findTools(node, desired, signal)
  const digests = await resolveImages(context, desired)
  const resolved = desired.map((workload) => toResolved(workload, release, { secrets, digests, tools }))
  for (const workload of resolved)
    for (const description of listWithoutEffect(workload)) progressReporter.warn(workload.instanceId, description)
  return resolved
}

/** Settings that this cluster does not apply, as sentences for users: none is ignored silently. */
function listWithoutEffect({ desired: { config }, manifests }: ResolvedWorkload): string[] {
  const ignored = notApplied(config, 'k8s').flatMap(({ description, partly, property }) =>
    partly ? [] : [`${property}: ${description}`],
  )
  if (!config.metrics?.enabled || manifests.serviceMonitor) return ignored
  return [
    ...ignored,
    'metrics: the cluster has no operator of Prometheus (it knows no ServiceMonitor), so that nothing reads the metrics of the container',
  ]
}

/**
 * The workloads of a release that has run before, so that all of its digests are known. Changes nothing, and talks to no registry.
 *
 * @throws PlanError that names the instance
 */
export async function prepareKnownWorkloads(
  node: ClusterNode,
  release: Release,
  signal: AbortSignal,
): Promise<ResolvedWorkload[]> {
  const desired = await toDesiredWorkloads(node, release, signal)
  const secrets = await openWorkloadSecrets(node, desired)
  const tools = await findTools(node, desired, signal)
  return desired.map((workload) => {
    const { instanceId } = workload
    const instance = release.instances.find((one) => one.instanceId === instanceId)
    const wanted = instance ? listWantedImages(instance, workload) : []
    const digests = wanted.flatMap(({ key, pinned }) => (pinned === undefined ? [] : [[key, pinned] as const]))
    return toResolved(workload, release, { secrets, digests: new Map(digests), tools, isComparison: true })
  })
}

/** What a release brings along for registries and storages. */
const listAccessKeys = ({ instances }: Release): string[] =>
  instances.flatMap(({ registryAuth, storage }) => [registryAuth?.password ?? '', storage?.secretKey ?? ''])

type Tools = Pick<PreparationParts, 'agentImage' | 'authority'>

/** What copies files into volumes; undefined where no instance says so. */
async function findTools(
  node: ClusterNode,
  desired: readonly DesiredWorkload[],
  signal: AbortSignal,
): Promise<Tools | undefined> {
  const first = desired.find(({ config }) => hasPreparation(config))
  if (!first) return undefined
  try {
    return { agentImage: await node.findAgentImage(signal), authority: node.authority }
  } catch (error) {
    if (!isEngineError(error, 'refused')) throw error
    throw new PlanError(first.instanceId, getMessage(error), { cause: error })
  }
}

async function toDesiredWorkloads(
  node: ClusterNode,
  release: Release,
  signal: AbortSignal,
  report?: WaitReport,
): Promise<DesiredWorkload[]> {
  checkRelease(release)
  checkNamespace(node, release.owner?.prefix ?? '')
  const settings = await readSettings(node, release, signal, report)
  const desired = release.instances.map((instance) => toDesiredWorkload(release, instance, settings))
  refuseSameNames(desired)
  return desired
}

const openWorkloadSecrets = (node: ClusterNode, desired: readonly DesiredWorkload[]): Promise<OpenedSecrets> =>
  openSecrets(
    node.decrypt,
    desired.map(({ instanceId, config }) => ({
      instanceId,
      config,
      base: { environment: Object.fromEntries(config.environment.map(({ key, value }) => [key, value])) },
    })),
  )

async function readSettings(
  node: ClusterNode,
  release: Release,
  signal: AbortSignal,
  report: WaitReport | undefined,
): Promise<ClusterSettings> {
  const { cluster, rootDomain, serverUrl } = node
  const hasServiceMonitors = await retryWhileUnavailable(() => cluster.serves('ServiceMonitor'), signal, report)
  return toClusterSettings(release, { rootDomain, serverUrl, hasServiceMonitors })
}

function toResolved(
  desired: DesiredWorkload,
  release: Release,
  {
    digests,
    isComparison = false,
    secrets,
    tools,
  }: {
    secrets: OpenedSecrets
    digests: ReadonlyMap<string, string>
    tools: Tools | undefined
    /** Without credentials, which exist for a release under way alone. */
    isComparison?: boolean
  },
): ResolvedWorkload {
  const { instanceId } = desired
  const digest = digests.get(instanceId)
  const instance = release.instances.find((one) => one.instanceId === instanceId)
  const manifests = toManifests(desired, {
    release,
    digest,
    preparationDigests: Object.fromEntries(
      listPreparationImages(desired.config).flatMap((image) => {
        const found = digests.get(toInitKey(instanceId, image))
        return found === undefined ? [] : [[imageKey(image), found] as const]
      }),
    ),
    secrets: secrets.get(instanceId) ?? {},
    auth: instance && toRegistryCredentials(instance),
    preparation: tools && { ...tools, storage: isComparison ? 'unknown' : instance?.storage },
  })
  return { instanceId, desired, manifests }
}

/** One name is one object of the cluster: two instances would take turns in changing it. */
function refuseSameNames(desired: readonly DesiredWorkload[]): void {
  const known = new Set<string>()
  for (const { instanceId, name } of desired) {
    if (known.has(name)) throw new PlanError(instanceId, `two containers of the release are named ${name}`)
    known.add(name)
  }
}

/** Two Deployments would write to one claim. */
function refuseSharedClaims(desired: readonly DesiredWorkload[]): void {
  const [shared] = findSharedClaims(desired.map(({ config }) => config))
  if (shared) throw new PlanError(desired[shared.index]?.instanceId ?? '', shared.description)
}

/** One image that a workload needs. */
interface WantedImage {
  /** Key of its digest in the journal. */
  key: string
  image: ImageReference
  /** The digest that must be used, if it is fixed. */
  pinned: string | undefined
  auth: RegistryCredentials | undefined
}

/** The key of the digest of an image of a preparation; that of the container itself is the id of its instance. */
const toInitKey = (instanceId: string, image: ImageReference) => `${instanceId} ${imageKey(image)}`

/** @returns digests by key; an image that only the nodes have has none */
async function resolveImages(
  context: ReleaseContext,
  desired: readonly DesiredWorkload[],
): Promise<ReadonlyMap<string, string>> {
  const { journal, release } = context
  const found = await allOrFirstError(
    desired.map(async (workload) => {
      const instance = release.instances.find((one) => one.instanceId === workload.instanceId)
      if (!instance) throw new PlanError(workload.instanceId, 'the release does not hold this instance')
      return resolveInstance(context, instance, workload)
    }),
  )
  const digests = new Map(found.flat())
  Object.assign(journal.state, { digests: Object.fromEntries(digests) })
  return digests
}

/** The images that have a digest: those that only the nodes have are left out. */
function listWantedImages(instance: Instance, { config, image }: DesiredWorkload): WantedImage[] {
  const { imageDigest, instanceId, localOnly, preparationDigests } = instance
  const auth = toRegistryCredentials(instance)
  const wanted: WantedImage[] = localOnly ? [] : [{ key: instanceId, image, pinned: imageDigest || undefined, auth }]
  for (const init of listPreparationImages(config)) {
    if (isLocalInitImage(init, { imageName: image.name, isLocal: localOnly })) continue
    const key = toInitKey(instanceId, init)
    const pinned = init.digest ?? (preparationDigests[imageKey(init)] || undefined)
    // Credentials are sent only to the registry that they are for.
    const isSame = getRegistry(init.name) === getRegistry(image.name)
    wanted.push({ key, image: init, pinned, auth: isSame ? auth : undefined })
  }
  return wanted
}

async function resolveInstance(
  context: ReleaseContext,
  instance: Instance,
  workload: DesiredWorkload,
): Promise<(readonly [string, string])[]> {
  const { progressReporter } = context
  const { instanceId } = instance
  progressReporter.running(instanceId, Phase.RESOLVE)
  try {
    const wanted = listWantedImages(instance, workload)
    const found = await allOrFirstError(
      wanted.map(async (one) => ({ ...one, digest: await resolveImage(context, one) })),
    )
    const own = found.find(({ key }) => key === instanceId)
    const others = found.filter((one) => one !== own)
    for (const { digest, image: init } of others)
      progressReporter.info(instanceId, `${init.name}:${init.tag} is ${digest}`)
    const named = Object.fromEntries(others.map(({ digest, image: init }) => [imageKey(init), digest]))
    // An image that only the nodes have has no digest, and those of its preparations are part of the release all the same.
    if (found.length > 0) progressReporter.resolved(instanceId, own?.digest ?? '', named)
    if (own) progressReporter.done(instanceId, Phase.RESOLVE)
    else progressReporter.skipped(instanceId, Phase.RESOLVE, "the image is the nodes' own")
    return found.map(({ digest, key }) => [key, digest] as const)
  } catch (error) {
    if (error instanceof AbortedError) throw error
    progressReporter.failed(instanceId, Phase.RESOLVE, getMessage(error))
    throw error instanceof PlanError ? error : new PlanError(instanceId, getMessage(error), { cause: error })
  }
}

async function resolveImage(
  { journal, node, signal }: ReleaseContext,
  { auth, image: { name, tag }, key, pinned }: WantedImage,
): Promise<string> {
  const known = journal.state.digests?.[key] ?? pinned
  const digest = known ?? (await node.digests.find({ name, reference: tag }, auth, signal))
  signal.throwIfAborted()
  if (digest) return digest
  throw new Error(
    `the agent cannot read the digest of ${name}:${tag} at its registry: check that the tag exists, that the registry's credentials are right, and that the agent's pod reaches the registry`,
  )
}
