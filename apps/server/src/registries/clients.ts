import { CruxError, type RegistryType } from '@crux/contract'
import type { TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import { findRegistry, getAccess } from './actions.ts'
import { rateLimitError } from './api/rate-limit.ts'
import type { RegistryApi } from './api/registry-api.ts'
import { getPullPrefix, openListedRegistry } from './connection.ts'

const clientsMax = 500
/** A limit is asked about again after this time, because the time that a service names may be that of another limit. */
const limitMsMax = 15 * 60_000

/** A registry that was opened with its stored credential. It keeps the tokens of its service. */
export type RegistryClient = {
  id: string
  /** Differs after each update of the registry, also of its credential. */
  version: number
  type: RegistryType
  prefix: string
  api: RegistryApi
}

const clientsByApp = new WeakMap<App, Map<string, RegistryClient>>()

/** The registry if this process has opened it. */
export const findClient = (app: App, registryId: string): RegistryClient | undefined =>
  clientsByApp.get(app)?.get(registryId)

/**
 * The team is checked on every call, also where the client is known.
 *
 * @throws CruxError notFound `registryId`; invalidArgument `registryId` for a registry whose images cannot be listed
 */
export async function getClient(app: App, team: Pick<TeamContext, 'id'>, registryId: string): Promise<RegistryClient> {
  const clients = clientsByApp.get(app) ?? new Map<string, RegistryClient>()
  clientsByApp.set(app, clients)
  const row = await findRegistry(app, team, registryId)
  const known = clients.get(row.id)
  if (known?.version === row.updatedAt.getTime()) return known
  const api = respectLimit(openListedRegistry(app, row, await getAccess(app, team, row)))
  const client = { id: row.id, version: row.updatedAt.getTime(), type: row.type, prefix: getPullPrefix(row), api }
  clients.delete(row.id)
  if (clients.size >= clientsMax) clients.delete(clients.keys().next().value ?? '')
  clients.set(row.id, client)
  return client
}

/** Sends no request while the registry has said that it accepts none, and answers with the time that is left. */
export function respectLimit(api: RegistryApi, now = Date.now): RegistryApi {
  let limit: { error: CruxError; at: number; seconds: number } | undefined

  const guarded =
    <Arguments extends unknown[], T>(ask: (...given: Arguments) => Promise<T>) =>
    async (...given: Arguments): Promise<T> => {
      if (limit && now() < limit.at + Math.min(limit.seconds * 1_000, limitMsMax)) throw withTimeLeft(limit, now())
      try {
        return await ask(...given)
      } catch (error) {
        if (error instanceof CruxError && error.code === 'registryRateLimit' && error.retryAfterS !== undefined)
          limit = { error, at: now(), seconds: error.retryAfterS }
        throw error
      }
    }

  return {
    check: guarded(() => api.check()),
    catalog: guarded(() => api.catalog()),
    tags: guarded((image: string) => api.tags(image)),
    describe: guarded((image: string, tag: string) => api.describe(image, tag)),
    labels: guarded((image: string, tag: string) => api.labels(image, tag)),
    digest: guarded((image: string, tag: string) => api.digest(image, tag)),
    exposedPorts: guarded((image: string, tag: string) => api.exposedPorts(image, tag)),
  }
}

function withTimeLeft({ error, at, seconds }: { error: CruxError; at: number; seconds: number }, now: number) {
  const left = Math.max(1, Math.ceil(seconds - (now - at) / 1_000))
  return rateLimitError(String(error.value), left)
}
