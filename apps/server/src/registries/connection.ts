import { CruxError, patterns, type RegistryWrite } from '@crux/contract'
import { registryUrlText } from '@crux/rules'
import type { App } from '../context.ts'
import { createGithubApi } from './api/github-api.ts'
import { createGitlabApi } from './api/gitlab-api.ts'
import { createGoogleApi } from './api/google-api.ts'
import { createHubApi } from './api/hub-api.ts'
import { type RegistryAccess, type RegistryApi, readAddress } from './api/registry-api.ts'
import { createV2Api } from './api/v2-api.ts'
import type { RegistryRow } from './store.ts'

/** The address of a registry and its kind, without the credential. */
export type RegistryLocation = Pick<
  RegistryRow,
  'type' | 'url' | 'apiUrl' | 'imageNamePrefix' | 'namespace' | 'public' | 'local'
>

/** @throws CruxError invalidArgument or missingParameter `url`, `apiUrl` or `imageNamePrefix` */
export function toLocation(write: RegistryWrite): RegistryLocation {
  return { apiUrl: null, imageNamePrefix: null, namespace: null, local: false, ...readLocation(write) }
}

function readLocation(
  write: RegistryWrite,
): Pick<RegistryLocation, 'type' | 'url' | 'public'> & Partial<RegistryLocation> {
  switch (write.type) {
    case 'hub': {
      const { imageNamePrefix, public: open } = write.details
      return { type: 'hub', url: 'hub.docker.com', imageNamePrefix: readPrefix(imageNamePrefix), public: open }
    }
    case 'v2': {
      const { url, imageNamePrefix, public: open } = write.details
      return { type: 'v2', url: readUrl(url), imageNamePrefix: readPrefix(imageNamePrefix), public: open }
    }
    case 'gitlab': {
      const { imageNamePrefix, namespace } = write.details
      // GitLab and GitHub ignore the case of names in their API, while image names are always lower-case.
      const path = readPrefix(imageNamePrefix.toLowerCase())
      return { type: 'gitlab', ...readGitlabUrls(write.details), imageNamePrefix: path, namespace, public: false }
    }
    case 'github': {
      const { imageNamePrefix, namespace } = write.details
      const owner = readPrefix(imageNamePrefix.toLowerCase())
      return { type: 'github', url: 'ghcr.io', imageNamePrefix: owner, namespace, public: false }
    }
    case 'google': {
      const { url, imageNamePrefix, public: open } = write.details
      return { type: 'google', url: readGoogleHost(url), imageNamePrefix: readPrefix(imageNamePrefix), public: open }
    }
    case 'unchecked': {
      const { url, local, public: open } = write.details
      return { type: 'unchecked', url: local ? '' : readUrl(url), public: local || open, local }
    }
  }
}

/** @returns undefined for a registry that Crux never queries */
export function openRegistry(app: App, location: RegistryLocation, access: RegistryAccess): RegistryApi | undefined {
  const { outbound, config } = app
  const prefix = location.imageNamePrefix ?? ''
  switch (location.type) {
    case 'hub': {
      const { hubUrl, hubRegistryUrl } = config
      return createHubApi({ outbound, hubUrl, hubRegistryUrl, imageNamePrefix: prefix, access })
    }
    case 'v2':
      return createV2Api({
        outbound,
        address: readAddress(location.url),
        imageNamePrefix: location.imageNamePrefix,
        access,
      })
    case 'gitlab':
      return createGitlabApi({
        outbound,
        address: readAddress(location.apiUrl ? location.url : config.gitlabRegistryUrl),
        apiAddress: readAddress(location.apiUrl ?? config.gitlabUrl, 'apiUrl'),
        selfManaged: location.apiUrl !== null,
        namespace: location.namespace === 'project' ? 'project' : 'group',
        path: prefix,
        access: required(access),
      })
    case 'github':
      return createGithubApi({
        outbound,
        address: readAddress(config.githubRegistryUrl),
        apiAddress: readAddress(config.githubApiUrl),
        namespace: location.namespace === 'user' ? 'user' : 'organization',
        owner: prefix,
        access: required(access),
      })
    case 'google':
      return createGoogleApi({
        outbound,
        address: readAddress(config.googleRegistryUrl ?? location.url),
        tokenUrl: config.googleTokenUrl,
        path: prefix,
        account: access,
      })
    case 'unchecked':
      return undefined
  }
}

/** Where the images of a registry begin in its repositories: the names of GitLab's images contain the whole path. */
export const getPullPrefix = ({ type, imageNamePrefix }: Pick<RegistryLocation, 'type' | 'imageNamePrefix'>): string =>
  type === 'gitlab' ? '' : (imageNamePrefix ?? '')

function required(access: RegistryAccess): NonNullable<RegistryAccess> {
  if (access) return access
  throw new CruxError('missingParameter', { property: 'token', description: 'This registry needs a user and a token.' })
}

/** @throws CruxError invalidArgument `registryId` for a registry that Crux never queries */
export function openListedRegistry(
  app: App,
  row: RegistryLocation & Pick<RegistryRow, 'id'>,
  access: RegistryAccess,
): RegistryApi {
  const api = openRegistry(app, row, access)
  if (api) return api
  throw new CruxError('invalidArgument', {
    property: 'registryId',
    value: row.id,
    description: 'Crux does not list the images of this registry: enter their names.',
  })
}

const readUrl = (text: string, property = 'url'): string => registryUrlText(readAddress(text, property))

const gitlabRegistry = 'registry.gitlab.com'

/** Both addresses of a self-managed instance, or those of gitlab.com. */
function readGitlabUrls({ url, apiUrl }: { url?: string | null | undefined; apiUrl?: string | null | undefined }) {
  if (apiUrl && url) return { url: readUrl(url), apiUrl: readUrl(apiUrl, 'apiUrl') }
  if (!apiUrl && (!url || url === gitlabRegistry)) return { url: gitlabRegistry, apiUrl: null }
  throw new CruxError('missingParameter', {
    property: apiUrl ? 'url' : 'apiUrl',
    description: 'A self-managed GitLab needs the address of its registry (url) and of GitLab itself (apiUrl).',
  })
}

const googleHost = /^(?:(?:us\.|eu\.|asia\.)?gcr\.io|[a-z0-9-]+-docker\.pkg\.dev)$/

/** Other hosts would get the access token of a service account. */
function readGoogleHost(text: string): string {
  const host = text
    .toLowerCase()
    .replace(/^https:\/\//, '')
    .replace(/\/+$/, '')
  if (googleHost.test(host)) return host
  throw new CruxError('invalidArgument', {
    property: 'url',
    value: text,
    description: 'Enter gcr.io, us.gcr.io, eu.gcr.io, asia.gcr.io, or a host such as europe-west1-docker.pkg.dev.',
  })
}

function readPrefix(text: string | null | undefined): string | null {
  const prefix = (text ?? '').trim().replace(/^\/+|\/+$/g, '')
  if (prefix === '' || patterns.imageName.test(prefix)) return prefix || null
  throw new CruxError('invalidArgument', {
    property: 'imageNamePrefix',
    value: text,
    description: 'A prefix consists of lower-case words separated by slashes.',
  })
}
