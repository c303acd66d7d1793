import type { Instance, Release } from '@crux/agent-protocol'
import { Slots } from '../concurrency/slots.ts'
import type { ImageFacts, RegistryCredentials } from '../drivers/container-engine.ts'
import type { Driver } from '../drivers/driver.ts'
import { EngineError } from '../drivers/errors.ts'
import type { DesiredInstance } from '../plan/container-spec.ts'
import type { ResolvedInstance } from '../plan/plan.ts'
import { Refusal } from '../plan/refusal.ts'
import { type Narrator, Phase } from './narrator.ts'
import { whileAway } from './patience.ts'

/** How many images are fetched at once; the engine itself fetches the layers of each side by side. */
const pullsMax = 4

/**
 * Finds out by digest what each instance runs, and fetches what the engine has not. Changes nothing else: a failure here
 * leaves everything as it was.
 *
 * @param known digests of an earlier try of the same release
 * @throws Refusal that names the instance and its image
 */
export async function resolveAndPull(options: {
  driver: Driver
  release: Release
  desired: readonly DesiredInstance[]
  known: Record<string, string>
  narrator: Narrator
  signal: AbortSignal
  onResolved: (digests: Record<string, string>) => void
}): Promise<ResolvedInstance[]> {
  const { driver, release, desired, known, narrator, signal } = options
  const byId = new Map(release.instances.map((instance) => [instance.instanceId, instance]))
  const found = await allOrFirstError(
    desired.map(async (wanted) => {
      const instance = byId.get(wanted.instanceId)
      if (!instance) throw new Refusal(wanted.instanceId, 'the release does not hold this instance')
      narrator.running(wanted.instanceId, Phase.RESOLVE)
      try {
        const result = await whileAway(() => resolveOne(driver, instance, wanted, known[wanted.instanceId]), signal)
        narrator.resolved(wanted.instanceId, result.digest)
        narrator.done(wanted.instanceId, Phase.RESOLVE)
        return { wanted, instance, ...result }
      } catch (error) {
        throw failed(narrator, wanted.instanceId, Phase.RESOLVE, error)
      }
    }),
  )
  options.onResolved(Object.fromEntries(found.map(({ wanted, digest }) => [wanted.instanceId, digest])))

  const slots = new Slots(pullsMax)
  const pulls = new Map<string, Promise<void>>()
  return allOrFirstError(
    found.map(async ({ wanted, instance, digest, facts, tagged }) => {
      const { instanceId } = wanted
      if (facts) {
        narrator.skipped(instanceId, Phase.PULL, 'the image is there already')
        return { ...wanted, digest, facts, tagged, wasPulled: false }
      }
      const reference = `${instance.imageName}@${digest}`
      narrator.running(instanceId, Phase.PULL)
      try {
        // Two instances of one image share its pull; the second tells only the end.
        let pull = pulls.get(reference)
        if (!pull) {
          pull = slots.run(() => pullOne(driver, instance, digest, narrator, signal))
          pulls.set(reference, pull)
        }
        await pull
        const pulled = await whileAway(() => driver.engine.findImage(reference), signal)
        if (!pulled) throw new EngineError('other', `${reference} is not in the engine's store after its pull`)
        narrator.done(instanceId, Phase.PULL)
        return { ...wanted, digest, facts: pulled, tagged: false, wasPulled: true }
      } catch (error) {
        throw failed(narrator, instanceId, Phase.PULL, error)
      }
    }),
  )
}

function pullOne(
  driver: Driver,
  instance: Instance,
  digest: string,
  narrator: Narrator,
  signal: AbortSignal,
): Promise<void> {
  const image = { name: instance.imageName, tag: instance.imageTag }
  const auth = authOf(instance)
  const onProgress = (progress: Parameters<Narrator['progress']>[1]) => narrator.progress(instance.instanceId, progress)
  return whileAway(() => driver.engine.pull({ image, digest, auth, onProgress, signal }), signal)
}

async function resolveOne(
  driver: Driver,
  instance: Instance,
  wanted: DesiredInstance,
  known: string | undefined,
): Promise<{ digest: string; facts: ImageFacts | undefined; tagged: boolean }> {
  const { engine } = driver
  const reference = `${wanted.image.name}:${wanted.image.tag}`
  const pinned = known ?? (instance.imageDigest || undefined)
  if (instance.localOnly) {
    const local = await engine.findImage(pinned?.startsWith('sha256:') ? pinned : reference)
    if (!local) throw new EngineError('not-found', `The engine's own store has no image ${reference}`)
    return { digest: local.id, facts: local, tagged: !pinned }
  }
  if (pinned) return { digest: pinned, facts: await engine.findImage(`${wanted.image.name}@${pinned}`), tagged: false }
  // Both at once: an image that is there already must not cost a second round.
  const [digest, local] = await Promise.all([
    engine.resolveDigest(wanted.image, authOf(instance)),
    engine.findImage(reference),
  ])
  if (local?.repoDigests.some((entry) => entry.endsWith(`@${digest}`))) return { digest, facts: local, tagged: true }
  return { digest, facts: await engine.findImage(`${wanted.image.name}@${digest}`), tagged: false }
}

function authOf({ registryAuth }: Instance): RegistryCredentials | undefined {
  if (!registryAuth || (registryAuth.username === '' && registryAuth.password === '')) return undefined
  const { serverAddress, username, password } = registryAuth
  return { serverAddress, username, password }
}

function failed(narrator: Narrator, instanceId: string, phase: Phase, error: unknown): unknown {
  if (!(error instanceof EngineError)) return error
  narrator.failed(instanceId, phase, error.message)
  return new Refusal(instanceId, error.message, { cause: error })
}

/** Like Promise.all, but waits for the rest to settle before it rejects: nothing goes on behind the caller's back. */
export async function allOrFirstError<T>(work: readonly Promise<T>[]): Promise<T[]> {
  let first: { error: unknown } | undefined
  const results = await Promise.allSettled(
    work.map((promise) =>
      promise.catch((error) => {
        first ??= { error }
        throw error
      }),
    ),
  )
  if (first) throw first.error
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}
