import { type Body, CruxError, type HookKind, type Params } from '@crux/contract'
import { createTtlCache, loadShared } from '@crux/service-kit'
import type { App } from '../context.ts'
import { isRepeated, receiveEvents } from './deliveries.ts'
import { type HookRegistry, selectHookRegistry } from './delivery-store.ts'
import { readDigest } from './digest.ts'
import { type HookEvent, readGithubEvent, readHarborEvent, readHubEvent, readV2Events } from './hook-events.ts'
import { isListed } from './image-events.ts'

/** Docker Hub waits for the response meanwhile. A digest that takes longer is left out of the delivery. */
const digestMs = 3_000
/** Several pushes of one tag within this time ask Docker Hub once. */
const digestTtlMs = 1_000

type HookParams = Params<'registries.hook'>
type Headers = Record<string, string | string[] | undefined>

/**
 * Handles the deliveries of registries. The guard has verified them for the registry of the path.
 *
 * @throws CruxError notFound `registryId` where the path names another team
 */
export function createHookHandlers(app: App) {
  const digests = createTtlCache<string, Promise<string | undefined>>({ ttlMs: digestTtlMs, max: 500 })

  async function receive(
    kind: HookKind,
    { teamSlug, registryId }: HookParams,
    read: (registry: HookRegistry) => readonly HookEvent[] | Promise<readonly HookEvent[]>,
  ): Promise<void> {
    const registry = await selectHookRegistry(app.database.pool, teamSlug, registryId)
    if (!registry) throw new CruxError('notFound', { property: 'registryId', value: registryId })
    await receiveEvents(app, registry, kind, await read(registry))
  }

  /**
   * An address with a secret proves less than a signature, so the event of Docker Hub is only a hint: the digest comes
   * from Docker Hub itself, and a tag that does not exist there was not pushed. The `callback_url` is never called.
   */
  async function confirm(registry: HookRegistry, event: HookEvent): Promise<HookEvent> {
    const [image] = event.images
    if (!image?.tag || !isListed(registry, image.name)) return event
    if (await isRepeated(app, registry.id, 'hub', event)) return event
    const { name, tag } = image
    try {
      const digest = await loadShared(digests, `${registry.id} ${name}:${tag}`, () =>
        withTimeout(readDigest(app, { id: registry.teamId }, registry.id, nameBelow(registry, name), tag), digestMs),
      )
      return digest ? { ...event, images: [{ name, tag, digest }] } : { ...event, change: 'none' }
    } catch (err) {
      app.log.debug({ err, registryId: registry.id }, 'Docker Hub was not asked for the digest of a push')
      return event
    }
  }

  return {
    v2: (params: HookParams, body: Body<'registries.hook'>) => receive('v2', params, () => readV2Events(body)),
    github: (params: HookParams, headers: Headers, body: Body<'registries.hook-github'>) =>
      receive('github', params, () => [readGithubEvent(headers, body)]),
    harbor: (params: HookParams, body: Body<'registries.hook-harbor'>) =>
      receive('harbor', params, () => [readHarborEvent(body)]),
    hub: (params: HookParams, body: Body<'registries.hook-hub'>) =>
      receive('hub', params, async (registry) => [await confirm(registry, readHubEvent(body))]),
  }
}

const nameBelow = ({ imageNamePrefix }: HookRegistry, repository: string): string => {
  const prefix = (imageNamePrefix ?? '').replace(/^\/+|\/+$/g, '')
  return prefix === '' ? repository : repository.slice(prefix.length + 1)
}

async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
