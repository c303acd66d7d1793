import type { TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import { createAnswerCache } from './answer-cache.ts'
import type { RegistryTag } from './api/registry-api.ts'
import { findClient, getClient, type RegistryClient } from './clients.ts'
import { createImageInspections, type ImageInspection } from './image-inspections.ts'
import { createTagDetails } from './tag-details.ts'

/** For the lists of images of this process, and for those of tags. 10,000 tags take about 3 MB. */
const catalogBytesMax = 16 * 1_024 * 1_024
const tagsBytesMax = 64 * 1_024 * 1_024
/** Images in one answer, where the caller does not say how many. */
const foundMax = 100

type Pushed = (registryId: string, images: string[]) => void
export type Found = { names: string[]; total: number }

/** Names and tags of a team's registries, requested with the stored credential and cached for a short time. */
export function createBrowser(app: App) {
  const catalogs = createAnswerCache(catalogBytesMax, namesSize)
  const tagLists = createAnswerCache(tagsBytesMax, tagsSize)
  const listeners = new Set<Pushed>()
  const hubCache = app.metrics.counter({
    name: 'registry_hub_cache',
    help: 'Questions to Docker Hub that a remembered answer served, or did not',
    labelNames: ['type'],
  })
  const requests = app.metrics.counter({
    name: 'registry_api_request',
    help: 'Catalogs, tags and details of tags that were asked of registries, by type of registry',
    labelNames: ['type', 'request'],
  })
  const details = createTagDetails((type) => requests.inc({ type, request: 'details' }))
  const inspections = createImageInspections((type) => requests.inc({ type, request: 'inspection' }))

  app.bus.on('registry.pushed', ({ registryId, pushes }) => {
    const client = findClient(app, registryId)
    // This process has nothing cached of it.
    if (!client) return
    const repositories = new Set(pushes.map(({ repository }) => repository))
    const images = [...repositories].flatMap((name) => nameBelow(client.prefix, name))
    catalogs.delete(toKey(client))
    for (const image of images) tagLists.delete(toKey(client, image))
    details.drop(client, images)
    inspections.drop(client, images)
    for (const heard of listeners) heard(registryId, images)
  })

  function remembered<T>(
    cache: ReturnType<typeof createAnswerCache<T>>,
    { type, ...client }: RegistryClient,
    { request, image }: { request: 'catalog' | 'tags'; image?: string },
    load: () => Promise<T>,
  ): Promise<T> {
    const key = toKey(client, image)
    if (type === 'hub') hubCache.inc({ type: cache.has(key) ? 'hit' : 'miss' })
    return cache.load(key, () => {
      requests.inc({ type, request })
      return load()
    })
  }

  return {
    async find(
      team: TeamContext,
      registryId: string,
      filter: string,
      { skip = 0, take = foundMax }: { skip?: number | undefined; take?: number | undefined } = {},
    ): Promise<Found> {
      const client = await getClient(app, team, registryId)
      const names = await remembered(catalogs, client, { request: 'catalog' }, () => client.api.catalog())
      const wanted = filter.trim().toLowerCase()
      const found = wanted === '' ? names : names.filter((name) => name.toLowerCase().includes(wanted))
      return { names: found.slice(skip, skip + take), total: found.length }
    },
    async tags(team: TeamContext, registryId: string, image: string): Promise<RegistryTag[]> {
      const client = await getClient(app, team, registryId)
      const load = async () => (await client.api.tags(image)).sort(newestFirst)
      return remembered(tagLists, client, { request: 'tags', image }, load)
    },
    async tagDetails(team: TeamContext, registryId: string, image: string, tags: readonly string[]) {
      return details.read(await getClient(app, team, registryId), image, tags)
    },
    /** Whether a tag exists, and the ports that its image declares. @throws CruxError as `readDigest` */
    async inspect(team: TeamContext, registryId: string, image: string, tag: string): Promise<ImageInspection> {
      return inspections.read(await getClient(app, team, registryId), image, tag)
    },
    /** `heard` runs after a registry reported that tags of these images changed and their cached data was dropped. */
    onPushed: (heard: Pushed) => void listeners.add(heard),
    async labels(team: TeamContext, registryId: string, image: string, tag: string): Promise<Record<string, string>> {
      const client = await getClient(app, team, registryId)
      return client.api.labels(image, tag)
    },
  }
}

const toKey = ({ id, version }: Pick<RegistryClient, 'id' | 'version'>, image = '') => `${id}/${version}/${image}`

// Estimates: two bytes per character, and the objects around it.
const namesSize = (names: string[]) => names.reduce((sum, name) => sum + 2 * name.length + 40, 100)
const tagsSize = (tags: RegistryTag[]) =>
  tags.reduce((sum, { name, platforms }) => sum + 2 * name.length + 240 + 40 * (platforms?.length ?? 0), 100)

/** The name of a repository on pages; empty for one outside of the registry's prefix. */
function nameBelow(prefix: string, repository: string): string[] {
  const head = prefix.replace(/^\/+|\/+$/g, '')
  if (head === '') return [repository]
  return repository.startsWith(`${head}/`) ? [repository.slice(head.length + 1)] : []
}

const byNumber = new Intl.Collator('en', { numeric: true })

/** Sorts by date where dates exist, otherwise by name with the higher version first. */
function newestFirst(a: RegistryTag, b: RegistryTag): number {
  return (b.created ?? '').localeCompare(a.created ?? '') || byNumber.compare(b.name, a.name)
}

export type Browser = ReturnType<typeof createBrowser>
