import { CruxError } from '@crux/contract'
import type { RegistryAddress } from '@crux/rules'
import type { Outbound } from '@crux/service-kit'
import { createJsonApi } from './json-api.ts'
import { createOrigin } from './origin.ts'
import { noRegistry, parseJson, type RegistryAccess, type RegistryApi, unexpected } from './registry-api.ts'
import { createV2Api } from './v2-api.ts'
import { createV2Client, pullScope } from './v2-client.ts'

const perPage = 100

/**
 * The images of a group or project of GitLab. Its API lists the repositories; their names contain the path of the group or project. Tags and
 * manifests come from its registry.
 */
export function createGitlabApi(options: {
  outbound: Outbound
  address: RegistryAddress
  apiAddress: RegistryAddress
  /** Whether a user entered the addresses, so that problems with them belong to their fields. */
  selfManaged: boolean
  namespace: 'group' | 'project'
  /** The path of the group or project. */
  path: string
  access: NonNullable<RegistryAccess>
}): RegistryApi {
  const { outbound, address, apiAddress, access, path, namespace } = options
  const apiProperty = options.selfManaged ? 'apiUrl' : 'imageNamePrefix'
  const api = createJsonApi({
    origin: createOrigin(outbound, apiAddress),
    headers: { authorization: `Bearer ${access.token}` },
    property: apiProperty,
  })
  // The registry has its tokens issued by GitLab itself, which the credential is for.
  const tokenOrigin = `${apiAddress.scheme}://${apiAddress.host}`
  const property = options.selfManaged ? 'url' : 'imageNamePrefix'
  const registry = { outbound, address, access, tokenOrigin, property }
  const client = createV2Client(registry)
  const { tags, describe, labels, digest, exposedPorts } = createV2Api({ ...registry, imageNamePrefix: null })
  const owner = `/api/v4/${namespace}s/${encodeURIComponent(path)}`

  return {
    async check() {
      const found = await api.get(owner)
      if (found.status === 404)
        throw new CruxError('notFound', {
          property: 'imageNamePrefix',
          description: `${api.host} has no ${namespace} ${path}, or does not show it to this token.`,
        })
      if (found.status !== 200) throw unexpected(found, api.host, apiProperty)
      // A page of another service may answer 200 to any path.
      if (typeof parseJson(found.body).id !== 'number')
        throw new CruxError('invalidArgument', {
          property: apiProperty,
          description: `${api.host} does not answer as GitLab. Enter the address of GitLab itself, not that of its registry.`,
        })
      const response = await client.get('/v2/', pullScope(path))
      if (response.status === 200) return
      throw response.status === 404
        ? noRegistry(response.status, client.host, property)
        : unexpected(response, client.host, property)
    },
    catalog: async () =>
      (await api.pages(`${owner}/registry/repositories`, perPage)).flatMap((row) =>
        typeof row.path === 'string' ? [row.path] : [],
      ),
    tags,
    describe,
    labels,
    digest,
    exposedPorts,
  }
}
