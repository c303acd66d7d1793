import type { RegistryType } from '@crux/contract'
import { createTtlCache, loadShared, type TtlCache } from '@crux/service-kit'
import type { TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import { findRegistry, getAccess } from './actions.ts'
import type { RegistryApi, RegistryTag } from './api/registry-api.ts'
import { openListedRegistry } from './connection.ts'
import type { RegistryRow } from './store.ts'

/** Long enough for typing into a search box, short enough for a recently pushed tag. */
const ttlMs = 10_000
const clientsMax = 500
const tagListsMax = 200
export const foundMax = 100

type Client = {
  version: number
  type: RegistryType
  prefix: string
  api: RegistryApi
  catalog: TtlCache<'catalog', Promise<string[]>>
  tags: TtlCache<string, Promise<RegistryTag[]>>
}

type Pushed = (registryId: string, images: string[]) => void

/** Names and tags of a team's registries, requested with the stored credential and cached for a short time. */
export function createBrowser(app: App) {
  const clients = new Map<string, Client>()
  const listeners = new Set<Pushed>()
  const hubCache = app.metrics.counter({
    name: 'registry_hub_cache',
    help: 'Questions to Docker Hub that a remembered answer served, or did not',
    labelNames: ['type'],
  })
  const requests = app.metrics.counter({
    name: 'registry_api_request',
    help: 'Catalogs and tags that were asked of registries, by type of registry',
    labelNames: ['type', 'request'],
  })

  app.bus.on('registry.pushed', ({ registryId, repositories }) => {
    const client = clients.get(registryId)
    // This process has nothing cached of it.
    if (!client) return
    const images = repositories.flatMap((name) => nameBelow(client.prefix, name))
    client.catalog.clear()
    for (const image of images) client.tags.delete(image)
    for (const heard of listeners) heard(registryId, images)
  })

  /** The team is checked on every call, also where the client is cached. */
  async function createClientFor(team: TeamContext, registryId: string): Promise<Client> {
    const row = await findRegistry(app, team, registryId)
    const known = clients.get(row.id)
    if (known?.version === row.updatedAt.getTime()) return known
    const client = await openClient(app, team, row)
    if (clients.size >= clientsMax) clients.delete(clients.keys().next().value ?? '')
    clients.set(row.id, client)
    return client
  }

  function remembered<K, T>(
    { type }: Client,
    cache: TtlCache<K, Promise<T>>,
    { request, key }: { request: 'catalog' | 'tags'; key: K },
    load: () => Promise<T>,
  ): Promise<T> {
    if (type === 'hub') hubCache.inc({ type: cache.get(key) ? 'hit' : 'miss' })
    return loadShared(cache, key, () => {
      requests.inc({ type, request })
      return load()
    })
  }

  return {
    async find(team: TeamContext, registryId: string, filter: string): Promise<string[]> {
      const client = await createClientFor(team, registryId)
      const names = await remembered(client, client.catalog, { request: 'catalog', key: 'catalog' }, () =>
        client.api.catalog(),
      )
      const wanted = filter.trim().toLowerCase()
      return names.filter((name) => name.toLowerCase().includes(wanted)).slice(0, foundMax)
    },
    async tags(team: TeamContext, registryId: string, image: string): Promise<RegistryTag[]> {
      const client = await createClientFor(team, registryId)
      return remembered(client, client.tags, { request: 'tags', key: image }, async () =>
        (await client.api.tags(image)).sort(newestFirst),
      )
    },
    /** `heard` runs after a registry reported that tags of these images changed and their cached data was dropped. */
    onPushed: (heard: Pushed) => void listeners.add(heard),
    async labels(team: TeamContext, registryId: string, image: string, tag: string): Promise<Record<string, string>> {
      const client = await createClientFor(team, registryId)
      return client.api.labels(image, tag)
    },
  }
}

async function openClient(app: App, team: TeamContext, row: RegistryRow): Promise<Client> {
  const api = openListedRegistry(app, row, await getAccess(app, team, row))
  return {
    version: row.updatedAt.getTime(),
    type: row.type,
    prefix: row.imageNamePrefix ?? '',
    api,
    catalog: createTtlCache({ ttlMs, max: 1 }),
    tags: createTtlCache({ ttlMs, max: tagListsMax }),
  }
}

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
