import { CruxError } from '@crux/contract'
import type { RegistryAddress } from '@crux/rules'
import type { Outbound } from '@crux/service-kit'
import { createJsonApi } from './json-api.ts'
import { createOrigin } from './origin.ts'
import {
  type RegistryAccess,
  type RegistryApi,
  type RegistryTag,
  readDate,
  refusedCredentials,
  texts,
  toRecord,
  unexpected,
} from './registry-api.ts'
import { createV2Api } from './v2-api.ts'

const perPage = 100
/** Each page has the dates of up to 100 versions, the newest first. Older tags are listed without a date. */
const datedPagesMax = 5

/** The container packages of an organization or a user of GitHub. Its API lists packages and their dates, its registry the tags. */
export function createGithubApi(options: {
  outbound: Outbound
  address: RegistryAddress
  apiAddress: RegistryAddress
  namespace: 'organization' | 'user'
  /** The name of the organization or user. */
  owner: string
  access: NonNullable<RegistryAccess>
}): RegistryApi {
  const { outbound, address, apiAddress, access, namespace, owner } = options
  const api = createJsonApi({
    origin: createOrigin(outbound, apiAddress),
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${access.token}`,
      'x-github-api-version': '2022-11-28',
    },
    property: 'imageNamePrefix',
  })
  const registry = createV2Api({ outbound, address, access, imageNamePrefix: owner, property: 'imageNamePrefix' })
  const packages = `/${namespace === 'user' ? 'users' : 'orgs'}/${encodeURIComponent(owner)}/packages`

  return {
    async check() {
      const response = await api.get(`${packages}?package_type=container&per_page=1`)
      if (response.status === 200) return
      if (response.status === 404)
        throw new CruxError('notFound', {
          property: 'imageNamePrefix',
          description: `GitHub has no ${namespace} ${owner}.`,
        })
      const problem = unexpected(response, api.host, 'imageNamePrefix')
      throw response.status === 403 && problem.code === 'registryUnauthorized'
        ? refusedCredentials('token', 'GitHub accepts this token, but it lacks the scope read:packages.')
        : problem
    },
    catalog: async () =>
      (await api.pages(`${packages}?package_type=container`, perPage)).flatMap((row) =>
        typeof row.name === 'string' ? [row.name] : [],
      ),
    async tags(image) {
      const path = `${packages}/container/${encodeURIComponent(image)}/versions`
      const [tags, versions] = await Promise.all([
        registry.tagNames(image),
        // Dates and digests are optional: without them the tags are still listed.
        api.pages(path, perPage, datedPagesMax).catch(() => []),
      ])
      const known = new Map(versions.flatMap(readVersion))
      return tags.map((name) => known.get(name) ?? { name, created: null })
    },
    describe: registry.describe,
    labels: registry.labels,
    digest: registry.digest,
    exposedPorts: registry.exposedPorts,
  }
}

/** A version of a package is a manifest: its name is the digest. */
function readVersion(row: Record<string, unknown>): [string, RegistryTag][] {
  const { tags } = toRecord(toRecord(row.metadata).container)
  const created = readDate(row.created_at)
  const digest = typeof row.name === 'string' ? row.name : null
  return texts(tags).map((name) => [name, { name, created, digest }])
}
