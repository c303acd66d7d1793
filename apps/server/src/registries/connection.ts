import { CruxError, patterns, type RegistryWrite } from '@crux/contract'
import { registryUrlText } from '@crux/rules'
import type { App } from '../context.ts'
import { createHubApi } from './api/hub-api.ts'
import { type RegistryAccess, type RegistryApi, readAddress } from './api/registry-api.ts'
import { createV2Api } from './api/v2-api.ts'
import type { RegistryRow } from './store.ts'

/** The address of a registry and its kind, without the credential. */
export type RegistryLocation = Pick<RegistryRow, 'type' | 'url' | 'imageNamePrefix' | 'public' | 'local'>

/** @throws CruxError invalidArgument `url` */
export function toLocation(write: RegistryWrite): RegistryLocation {
  switch (write.type) {
    case 'hub': {
      const { imageNamePrefix, public: open } = write.details
      return {
        type: 'hub',
        url: 'hub.docker.com',
        imageNamePrefix: readPrefix(imageNamePrefix),
        public: open,
        local: false,
      }
    }
    case 'v2': {
      const { url, imageNamePrefix, public: open } = write.details
      return { type: 'v2', url: readUrl(url), imageNamePrefix: readPrefix(imageNamePrefix), public: open, local: false }
    }
    case 'unchecked': {
      const { url, local, public: open } = write.details
      return { type: 'unchecked', url: local ? '' : readUrl(url), imageNamePrefix: null, public: local || open, local }
    }
  }
}

/** @returns undefined for a registry that Crux never queries */
export function openRegistry(app: App, location: RegistryLocation, access: RegistryAccess): RegistryApi | undefined {
  if (location.type === 'hub')
    return createHubApi({
      outbound: app.outbound,
      hubUrl: app.config.hubUrl,
      hubRegistryUrl: app.config.hubRegistryUrl,
      imageNamePrefix: location.imageNamePrefix ?? '',
      access,
    })
  if (location.type !== 'v2') return undefined
  return createV2Api({
    outbound: app.outbound,
    address: readAddress(location.url),
    imageNamePrefix: location.imageNamePrefix,
    access,
  })
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

const readUrl = (text: string): string => registryUrlText(readAddress(text))

function readPrefix(text: string | null | undefined): string | null {
  const prefix = (text ?? '').trim().replace(/^\/+|\/+$/g, '')
  if (prefix === '' || patterns.imageName.test(prefix)) return prefix || null
  throw new CruxError('invalidArgument', {
    property: 'imageNamePrefix',
    value: text,
    description: 'A prefix consists of lower-case words separated by slashes.',
  })
}
