import type { Instance, Release } from '@crux/agent-protocol'
import { allOrFirstError } from '../../../concurrency/all-or-first-error.ts'
import { pause } from '../../../concurrency/pause.ts'
import { Slots } from '../../../concurrency/slots.ts'
import { EngineError, PlanError } from '../../../errors.ts'
import { Phase, type ProgressReporter } from '../../../journal/progress-reporter.ts'
import { toRegistryCredentials } from '../../images/credentials.ts'
import type { ImageReference, RegistryCredentials } from '../../images/image-reference.ts'
import { getRegistry, imageKey } from '../../images/image-reference.ts'
import type { RegistryDigests } from '../../images/registry-digests.ts'
import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
import type { Driver, ImageMetadata, PullOrder } from '../containers/container-engine.ts'
import type { FetchedImages } from '../images/fetched.ts'
import { isLocalImage } from '../images/local-image.ts'
import type { DesiredInstance } from '../plan/container-spec.ts'
import { listImages } from '../plan/preparations.ts'
import type { ResolvedInstance } from '../plan/steps.ts'

/** How many images are fetched at once; the engine itself fetches the layers of each in parallel. */
const pullsMax = 4

/** If the agent's own request has no answer after this time, the agent asks the engine as well. */
const engineAskedAfterMs = 200

interface ImageSources {
  driver: Driver
  fetched: FetchedImages
  digests: Pick<RegistryDigests, 'find'>
}

interface Resolution {
  sources: ImageSources
  release: Release
  desired: readonly DesiredInstance[]
  /** Digests of an earlier attempt of the same release, which the registry granted then. */
  known: Record<string, string>
  progressReporter: ProgressReporter
  signal: AbortSignal
  onResolved: (digests: Record<string, string>) => void
}

interface FoundInstance {
  wanted: DesiredInstance
  own: Found
  /** Images of its preparations. */
  others: readonly Found[]
}

/**
 * Resolves the image of each instance to a digest, and fetches what the engine does not have. Changes nothing else: a failure here leaves
 * everything as it was.
 *
 * The engine's store may be shared with other teams. An image of the store is used only if this agent fetched it, if it was built or loaded
 * on the node, or if the registry grants it to the release's credentials now.
 *
 * @throws PlanError that names the instance and its image
 */
export async function resolveAndPull(resolution: Resolution): Promise<ResolvedInstance[]> {
  const byId = new Map(resolution.release.instances.map((instance) => [instance.instanceId, instance]))
  const found = await allOrFirstError(
    resolution.desired.map((wanted) => findImages(resolution, wanted, byId.get(wanted.instanceId))),
  )
  const all = found.flatMap(({ own, others }) => [own, ...others])
  resolution.onResolved(Object.fromEntries(all.map(({ order, digest }) => [order.key, digest])))
  const pull = createPulls(resolution)
  return allOrFirstError(found.map((instance) => fetchImages(resolution, instance, pull)))
}

async function findImages(
  { known, progressReporter, signal, sources }: Resolution,
  wanted: DesiredInstance,
  instance: Instance | undefined,
): Promise<FoundInstance> {
  const { instanceId } = wanted
  if (!instance) throw new PlanError(instanceId, 'the release does not hold this instance')
  progressReporter.running(instanceId, Phase.RESOLVE)
  try {
    const [own, ...others] = await allOrFirstError(
      listOrders(instance, wanted, known).map(async (order) => ({
        order,
        ...(await retryWhileUnavailable(() => resolveOne(sources, order, signal), signal)),
      })),
    )
    if (!own) throw new Error('an instance has an image')
    const digests = Object.fromEntries(others.map(({ order, digest }) => [imageKey(order.image), digest]))
    progressReporter.resolved(instanceId, own.digest, digests)
    for (const { order, digest } of others)
      progressReporter.info(instanceId, `${order.image.name}:${order.image.tag} is ${digest}`)
    progressReporter.done(instanceId, Phase.RESOLVE)
    return { wanted, own, others }
  } catch (error) {
    throw failed(progressReporter, instanceId, Phase.RESOLVE, error)
  }
}

type Pull = (found: Found, onProgress: PullOrder['onProgress']) => Promise<ImageMetadata>

/** Two instances that need the same image share its pull; the second reports only the end. */
function createPulls({ signal, sources: { driver, fetched } }: Resolution): Pull {
  const slots = new Slots(pullsMax)
  const pulls = new Map<string, Promise<void>>()
  return async ({ order, digest, metadata }, onProgress) => {
    if (metadata) return metadata
    const { image, auth } = order
    const reference = `${image.name}@${digest}`
    const once = () => driver.engine.pull({ image, digest, auth, onProgress, signal })
    const pull =
      pulls.get(reference) ??
      slots.run(() => retryWhileUnavailable(() => fetched.fetch({ name: image.name, digest }, once), signal))
    pulls.set(reference, pull)
    await pull
    const pulled = await retryWhileUnavailable(() => driver.engine.findImage(reference), signal)
    if (!pulled) throw new EngineError('other', `${reference} is not in the engine's store after its pull`)
    return pulled
  }
}

async function fetchImages(
  { progressReporter }: Resolution,
  { wanted, own, others }: FoundInstance,
  pull: Pull,
): Promise<ResolvedInstance> {
  const { instanceId } = wanted
  const wasPulled = [own, ...others].some(({ metadata }) => !metadata)
  if (wasPulled) progressReporter.running(instanceId, Phase.PULL)
  else progressReporter.skipped(instanceId, Phase.PULL, 'the image is there already')
  try {
    const [metadata, ...further] = await allOrFirstError([
      pull(own, (progress) => progressReporter.progress(instanceId, progress)),
      ...others.map((other) => pull(other, () => undefined)),
    ])
    if (!metadata) throw new Error('an instance has an image')
    if (wasPulled) progressReporter.done(instanceId, Phase.PULL)
    const preparationImages = new Map(
      others.flatMap(({ order, digest }, index) => {
        const image = further[index]
        return image ? [[imageKey(order.image), { digest, metadata: image }] as const] : []
      }),
    )
    return { ...wanted, digest: own.digest, metadata, tagged: own.tagged, wasPulled, preparationImages }
  } catch (error) {
    throw failed(progressReporter, instanceId, Phase.PULL, error)
  }
}

/** One image that an instance needs. */
interface Order {
  /** Key of its digest in the journal. */
  key: string
  image: ImageReference
  /** The digest that must be used, if it is fixed. */
  pinned: string | undefined
  /** Whether the registry granted it to an earlier attempt of this release. */
  granted: boolean
  auth: RegistryCredentials | undefined
  /** Whether it comes from a registry that an admin configured, not from an address that a member wrote. */
  isOwnRegistry: boolean
  /** `only`: from the engine's own store, never from a registry. `first`: from a registry if the store does not have it. */
  local: 'no' | 'first' | 'only'
}

interface Found {
  order: Order
  digest: string
  metadata: ImageMetadata | undefined
  tagged: boolean
}

/** The instance's own image first, then those of its preparations, each once. Credentials are sent only to the registry that they belong to. */
function listOrders(instance: Instance, wanted: DesiredInstance, known: Record<string, string>): Order[] {
  const { instanceId } = wanted
  const auth = toRegistryCredentials(instance)
  const others = new Map(listImages(wanted.preparations).map((image) => [imageKey(image), image]))
  return [
    {
      key: instanceId,
      image: wanted.image,
      pinned: known[instanceId] ?? (instance.imageDigest || undefined),
      granted: known[instanceId] !== undefined,
      auth,
      isOwnRegistry: true,
      local: instance.localOnly ? 'only' : 'no',
    },
    ...[...others].map(([name, image]): Order => {
      const key = `${instanceId} ${name}`
      const same = getRegistry(image.name) === getRegistry(instance.imageName)
      return {
        key,
        image,
        // A rollback to an earlier release runs the digest that ran then.
        pinned: known[key] ?? image.digest ?? (instance.preparationDigests[name] || undefined),
        granted: known[key] !== undefined,
        auth: same ? auth : undefined,
        isOwnRegistry: same,
        local: instance.localOnly ? 'first' : 'no',
      }
    }),
  ]
}

async function resolveOne(sources: ImageSources, order: Order, signal: AbortSignal): Promise<Omit<Found, 'order'>> {
  const { fetched } = sources
  const { engine } = sources.driver
  const { image, pinned, granted } = order
  const reference = `${image.name}:${image.tag}`
  if (order.local !== 'no') {
    const local = await engine.findImage(pinned?.startsWith('sha256:') ? pinned : reference)
    if (local && (granted || mayUseLocal(local, fetched))) return { digest: local.id, metadata: local, tagged: !pinned }
    if (local && order.local === 'only')
      throw new EngineError(
        'refused',
        `${reference} in the engine's own store came from a registry and was not fetched by this node: use the registry that it is from`,
      )
    if (order.local === 'only') throw new EngineError('not-found', `The engine's own store has no image ${reference}`)
  }
  if (pinned) {
    const stored = await engine.findImage(`${image.name}@${pinned}`)
    if (stored && !granted && !fetched.has(stored.id)) await askRegistry(sources, order, signal)
    return { digest: pinned, metadata: stored, tagged: false }
  }
  // Both requests run at once, so that an image that is present already costs no second round trip.
  const [digest, local] = await Promise.all([askRegistry(sources, order, signal), engine.findImage(reference)])
  if (local?.repoDigests.some((entry) => entry.endsWith(`@${digest}`))) return { digest, metadata: local, tagged: true }
  return { digest, metadata: await engine.findImage(`${image.name}@${digest}`), tagged: false }
}

/**
 * Returns the digest that the registry grants to the release's credentials now. The agent asks the registry itself, which takes a fraction
 * of the engine's time; if it gets no result, the engine's answer decides.
 */
async function askRegistry(
  { driver: { engine }, digests }: ImageSources,
  { image, pinned, auth, isOwnRegistry }: Order,
  signal: AbortSignal,
): Promise<string> {
  const { name, tag } = image
  const asked = isOwnRegistry
    ? digests.find({ name, reference: pinned ?? tag }, auth, signal)
    : Promise.resolve(undefined)
  const isWanted = (digest: string | undefined): digest is string =>
    digest !== undefined && (pinned === undefined || digest === pinned)
  const early = (await Promise.race([asked, pause(engineAskedAfterMs, signal)])) ?? undefined
  if (isWanted(early)) return early
  const byEngine = pinned
    ? engine.checkAccess({ name, digest: pinned }, auth, signal).then(() => pinned)
    : engine.resolveDigest(image, auth, signal)
  const late = asked.then((digest) => (isWanted(digest) ? digest : byEngine))
  return Promise.any([byEngine, late]).catch(() => byEngine)
}

/** Used without a registry to ask: accepts an image of the node itself, or one that a registry has granted to this agent before. */
function mayUseLocal({ id, repoDigests }: ImageMetadata, fetched: FetchedImages): boolean {
  return isLocalImage(repoDigests) || fetched.has(id)
}

function failed(progressReporter: ProgressReporter, instanceId: string, phase: Phase, error: unknown): unknown {
  if (!(error instanceof EngineError)) return error
  progressReporter.failed(instanceId, phase, error.message)
  return new PlanError(instanceId, error.message, { cause: error })
}
