import { CruxError } from '@crux/contract'
import { createTtlCache, type Outbound, type OutboundResponse } from '@crux/service-kit'
import { secondsToWait } from './rate-limit.ts'
import {
  appendPage,
  namesMax,
  pagesMax,
  parseJson,
  type RegistryAccess,
  type RegistryApi,
  type RegistryTag,
  readAddress,
  readDate,
  refusedCredentials,
  timeoutMs,
  toRecord,
  unexpected,
  unreachable,
} from './registry-api.ts'
import { createV2Client } from './v2-client.ts'
import { createV2Manifests, toPlatforms } from './v2-manifests.ts'

const perPage = 100
const retriesMax = 3
/** If Docker Hub asks for a longer delay the user gets an error instead. */
const retryMsMax = 5_000

type HubOptions = {
  outbound: Outbound
  /** `https://hub.docker.com`, or a server with the same documented shapes. */
  hubUrl: string
  /** `https://registry-1.docker.io`, or a replacement for it. */
  hubRegistryUrl: string
  access: RegistryAccess
}

/** Docker Hub has an API of its own in addition to its registry: organisations, repositories, tags. */
export function createHubApi(options: HubOptions & { imageNamePrefix: string }): RegistryApi {
  const { host, get, pages } = createHubClient(options)
  const namespace = options.imageNamePrefix.replace(/^\/+|\/+$/g, '')
  const prefix = encodeURIComponent(namespace)
  const manifests = createV2Manifests(
    createV2Client({ ...options, address: readAddress(options.hubRegistryUrl), property: 'imageNamePrefix' }),
  )

  async function translateErrors<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw unreachable(error, 'imageNamePrefix')
    }
  }

  return {
    check: () =>
      translateErrors(async () => {
        let response = await get(`/v2/orgs/${prefix}`)
        // A user's namespace is no organisation.
        if (response.status === 404) response = await get(`/v2/users/${prefix}`)
        if (response.status === 404)
          throw new CruxError('notFound', {
            property: 'imageNamePrefix',
            description: 'Docker Hub has no such organization or user.',
          })
        if (response.status !== 200) throw unexpected(response, host, 'imageNamePrefix')
      }),
    catalog: () =>
      translateErrors(async () =>
        (await pages(`/v2/repositories/${prefix}/`)).flatMap((row) => (typeof row.name === 'string' ? [row.name] : [])),
      ),
    tags: (image) =>
      translateErrors(async () =>
        (await pages(`/v2/repositories/${prefix}/${encodeURIComponent(image)}/tags`)).flatMap(toTag),
      ),
    // The list tells everything, and reading a manifest counts as a pull.
    describe: async () => undefined,
    // The hub's own API provides no labels.
    labels: async () => ({}),
    digest: (image, tag) => manifests.digest(`${namespace}/${image}`, tag),
    // It counts as a pull: one of each image that somebody is about to run.
    exposedPorts: (image, tag) => manifests.exposedPorts(`${namespace}/${image}`, tag),
  }
}

/** Signs in where credentials are known, waits when asked to, and collects the pages of a list. */
function createHubClient({ outbound, hubUrl, access }: HubOptions) {
  const host = new URL(hubUrl).host
  const logins = createTtlCache<'login', string>({ ttlMs: 5 * 60_000, max: 1 })

  async function get(path: string): Promise<OutboundResponse> {
    const headers: Record<string, string> = access ? { authorization: `JWT ${await signIn(access)}` } : {}
    for (let tries = 0; ; tries++) {
      const response = await outbound.request(`${hubUrl}${path}`, { headers, timeoutMs, redirects: 2 })
      const waitMs = (secondsToWait(response.headers) ?? 1) * 1_000
      if (response.status !== 429 || tries >= retriesMax || !(waitMs <= retryMsMax)) return response
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }

  async function signIn({ user, token }: NonNullable<RegistryAccess>): Promise<string> {
    const known = logins.get('login')
    if (known !== undefined) return known
    const response = await outbound.request(`${hubUrl}/v2/users/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: user, password: token }),
      timeoutMs,
    })
    const given = parseJson(response.body).token
    if (response.status === 401 || response.status === 403) throw refusedCredentials()
    if (response.status !== 200 || typeof given !== 'string') throw unexpected(response, host, 'user')
    logins.set('login', given)
    return given
  }

  async function pages(path: string): Promise<Record<string, unknown>[]> {
    const found: Record<string, unknown>[] = []
    for (let page = 1; found.length < namesMax && page <= pagesMax; page++) {
      const response = await get(`${path}?page_size=${perPage}&page=${page}`)
      // Past the last page the hub answers 404.
      if (response.status === 404 && page > 1) break
      if (response.status !== 200) throw unexpected(response, host, 'image')
      const { results, next } = parseJson(response.body)
      if (Array.isArray(results)) appendPage(found, results.map(toRecord))
      if (!next) break
    }
    return found
  }

  return { host, get, pages }
}

/** A tag of the hub has its images, one per platform. */
function toTag({
  name,
  last_updated: updated,
  digest,
  full_size: size,
  images,
}: Record<string, unknown>): RegistryTag[] {
  if (typeof name !== 'string') return []
  const entries = (Array.isArray(images) ? images : []).map((platform: object | null) => ({
    platform: { ...platform },
  }))
  const platforms = toPlatforms(entries)
  return [
    {
      name,
      created: readDate(updated),
      ...(typeof digest === 'string' && { digest }),
      ...(typeof size === 'number' && { size }),
      ...(platforms.length > 0 && { platforms }),
    },
  ]
}
