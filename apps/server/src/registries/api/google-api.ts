import { CruxError } from '@crux/contract'
import type { RegistryAddress } from '@crux/rules'
import { createTtlCache, type Outbound, type OutboundResponse } from '@crux/service-kit'
import { googleTokenUser, mintGoogleToken, type ServiceAccount } from './google-token.ts'
import {
  appendPage,
  namesMax,
  pagesMax,
  parseJson,
  type RegistryAccess,
  type RegistryApi,
  type RegistryTag,
  readDate,
  refusedCredentials,
  texts,
  toRecord,
  unexpected,
} from './registry-api.ts'
import { createV2Client, encodePath, nextPage, pullScope } from './v2-client.ts'
import { createV2Manifests } from './v2-manifests.ts'

const perPage = 1_000
/** Repositories below others cost a request each: beyond this many they are listed without a look below them. */
const visitsMax = 200
const depthMax = 5
const atOnce = 10
/** An access token is renewed this long before its end. */
const renewMs = 60_000

type Listing = { children: string[]; tags: RegistryTag[]; isImage: boolean }

/**
 * Container Registry and Artifact Registry, which add the repositories below a path, and the dates, digests and sizes of all tags, to the list
 * of tags.
 */
export function createGoogleApi(options: {
  outbound: Outbound
  address: RegistryAddress
  tokenUrl: string
  /** The project, with the repository for Artifact Registry. */
  path: string
  account: ServiceAccount | undefined
}): RegistryApi {
  const { outbound, address, path, account } = options
  const clients = createTtlCache<'client', ReturnType<typeof createV2Client>>({ ttlMs: renewMs, max: 1 })

  /** A client with a valid access token. */
  async function getClient() {
    const known = clients.get('client')
    if (known) return known
    const minted = account && (await mintGoogleToken(outbound, options.tokenUrl, account))
    const access: RegistryAccess = minted && { user: googleTokenUser, token: minted.token }
    const client = createV2Client({ outbound, address, access })
    clients.set('client', client, { ttlMs: Math.max((minted?.ttlMs ?? 3_600_000) - renewMs, 1_000) })
    return client
  }

  const full = (image: string) => `${path}/${image}`

  async function list(name: string, property: string): Promise<Listing> {
    const client = await getClient()
    const listing: Listing = { children: [], tags: [], isImage: false }
    const first = `/v2/${encodePath(name)}/tags/list?n=${perPage}`
    let next: string | undefined = first
    for (let page = 0; next && page < pagesMax && listing.tags.length < namesMax; page++) {
      const response = await client.get(next, pullScope(name))
      if (response.status !== 200)
        throw toRefusal(response, { host: client.host, path, property, hasAccount: account !== undefined })
      const { child, manifest, tags } = parseJson(response.body)
      appendPage(listing.children, texts(child))
      const described = readManifests(manifest)
      const known = new Set(described.map((tag) => tag.name))
      const others = texts(tags).flatMap((tag) => (known.has(tag) ? [] : [{ name: tag, created: null }]))
      appendPage(listing.tags, [...described, ...others])
      listing.isImage ||= Object.keys(toRecord(manifest)).length > 0
      next = nextPage(response)
    }
    return listing
  }

  /** The images below a path: some repositories contain others only. */
  async function catalog(): Promise<string[]> {
    const found: string[] = []
    let visits = 0
    let level = (await list(path, 'imageNamePrefix')).children
    for (let depth = 1; level.length > 0 && found.length < namesMax; depth++) {
      const waiting = [...level]
      const deeper: string[] = []
      const worker = async () => {
        for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
          // What is below stays unknown then, and the name itself is most likely an image.
          const below = depth < depthMax && visits++ < visitsMax ? await list(full(name), 'image') : undefined
          if (!below || below.isImage || below.children.length === 0) found.push(name)
          deeper.push(...(below?.children ?? []).map((child) => `${name}/${child}`))
        }
      }
      await Promise.all(Array.from({ length: atOnce }, worker))
      level = deeper
    }
    return found.slice(0, namesMax).sort()
  }

  return {
    check: async () => void (await list(path, 'imageNamePrefix')),
    catalog,
    tags: async (image) => (await list(full(image), 'image')).tags,
    describe: async (image, tag) => createV2Manifests(await getClient()).describe(full(image), tag),
    labels: async (image, tag) => createV2Manifests(await getClient()).labels(full(image), tag),
    digest: async (image, tag) => createV2Manifests(await getClient()).digest(full(image), tag),
    exposedPorts: async (image, tag) => createV2Manifests(await getClient()).exposedPorts(full(image), tag),
  }
}

/** The tags in `manifest`, an object by digest; numbers are texts in it, and images built without a clock are from 1970 or earlier. */
function readManifests(manifest: unknown): RegistryTag[] {
  return Object.entries(toRecord(manifest)).flatMap(([digest, entry]) => {
    const { tag, timeCreatedMs, timeUploadedMs, imageSizeBytes } = toRecord(entry)
    const at = [timeCreatedMs, timeUploadedMs].map(Number).find((ms) => ms > 0)
    const size = Number(imageSizeBytes ?? Number.NaN)
    return texts(tag).map((name) => ({
      name,
      created: readDate(at),
      digest,
      ...(Number.isSafeInteger(size) && { size }),
    }))
  })
}

function toRefusal(
  response: OutboundResponse,
  { host, path, property, hasAccount }: { host: string; path: string; property: string; hasAccount: boolean },
): CruxError {
  if (response.status === 404)
    return new CruxError('notFound', { property, description: `${host} has no repository ${path}.` })
  if (response.status !== 401 && response.status !== 403) return unexpected(response, host, property)
  return hasAccount
    ? refusedCredentials('token', `${host} does not let this service account read ${path}.`)
    : refusedCredentials('user', `${host} requires credentials for ${path}.`)
}
