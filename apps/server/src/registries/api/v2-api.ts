import { CruxError } from '@crux/contract'
import type { RegistryAddress } from '@crux/rules'
import type { Outbound, OutboundResponse } from '@crux/service-kit'
import {
  appendPage,
  namesMax,
  noRegistry,
  pagesMax,
  parseJson,
  type RegistryAccess,
  type RegistryApi,
  type RegistryTag,
  refusedCredentials,
  texts,
  unexpected,
} from './registry-api.ts'
import { createV2Client, encodePath, nextPage, pullScope } from './v2-client.ts'
import { createV2Manifests } from './v2-manifests.ts'

const perPage = 1_000
/** Dates cost two requests per tag: longer lists have none, and `describe` reads those of the tags that a page shows. */
const datedTagsMax = 30

/** A registry of the distribution specification, below an optional prefix. */
export function createV2Api(options: {
  outbound: Outbound
  address: RegistryAddress
  imageNamePrefix: string | null
  access: RegistryAccess
  tokenOrigin?: string
  property?: string
}): RegistryApi & { tagNames(image: string): Promise<string[]> } {
  const client = createV2Client(options)
  const manifests = createV2Manifests(client)
  const prefix = (options.imageNamePrefix ?? '').replace(/^\/+|\/+$/g, '')
  const full = (image: string) => (prefix ? `${prefix}/${image}` : image)

  /** Follows `Link: <...>; rel="next"` on the registry itself. */
  async function pages(
    path: string,
    scope: string,
    names: (body: Record<string, unknown>) => string[],
  ): Promise<string[]> {
    const found: string[] = []
    let next: string | undefined = path
    for (let page = 0; next && page < pagesMax && found.length < namesMax; page++) {
      const response: OutboundResponse = await client.get(next, scope)
      if (response.status !== 200) throw unexpected(response, client.host, 'image')
      appendPage(found, names(parseJson(response.body)))
      next = nextPage(response)
    }
    return found
  }

  const tagNames = (image: string) => {
    const name = full(image)
    return pages(`/v2/${encodePath(name)}/tags/list?n=${perPage}`, pullScope(name), (body) => texts(body.tags))
  }

  return {
    async check() {
      const response = await client.get('/v2/', '')
      const { status, headers, body } = response
      const isRegistry =
        headers['docker-distribution-api-version'] !== undefined || /json/.test(String(headers['content-type'] ?? ''))
      if (status === 401 || status === 403) {
        // A public registry may issue tokens per image only: its request for one is a sufficient answer.
        if (!options.access && /^\s*bearer/i.test(String(headers['www-authenticate'] ?? ''))) return
        throw options.access
          ? refusedCredentials()
          : new CruxError('registryUnauthorized', {
              property: 'user',
              description: 'This registry requires credentials.',
            })
      }
      if (status !== 200)
        throw status === 404 ? noRegistry(status, client.host, 'url') : unexpected(response, client.host, 'url')
      if (!isRegistry && body.length > 0) throw noRegistry(status, client.host, 'url')
    },
    catalog: () =>
      // Names outside of the prefix do not count, because a registry may have more of them than are read.
      pages(`/v2/_catalog?n=${perPage}`, 'registry:catalog:*', (body) =>
        texts(body.repositories).flatMap((name) =>
          prefix === '' ? [name] : name.startsWith(`${prefix}/`) ? [name.slice(prefix.length + 1)] : [],
        ),
      ),
    tagNames,
    async tags(image) {
      const names = await tagNames(image)
      const known = names.length <= datedTagsMax ? await manifests.describeAll(full(image), names) : new Map()
      return names.map((tag): RegistryTag => known.get(tag) ?? { name: tag, created: null })
    },
    describe: (image, tag) => manifests.describe(full(image), tag),
    labels: (image, tag) => manifests.labels(full(image), tag),
    digest: (image, tag) => manifests.digest(full(image), tag),
    exposedPorts: (image, tag) => manifests.exposedPorts(full(image), tag),
  }
}
