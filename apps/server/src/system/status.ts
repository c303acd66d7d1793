import { CruxError, type ResponseInput } from '@crux/contract'
import { createHealth, createTtlCache, type Health, loadShared } from '@crux/service-kit'
import { Configuration, MetadataApi } from '@ory/kratos-client'
import type { App } from '../context.ts'
import { adminConfiguration } from '../identity/index.ts'
import { ping } from './store.ts'

/** How long a response of `/api/status` is cached, because everyone may open the page. */
const ttlMs = 5_000
const quick = { timeout: 2_000, proxy: false } as const

type Status = ResponseInput<'system.status'>

/** @throws when the identity service does not answer, or is not ready itself */
export async function checkIdentity(publicUrl: string): Promise<void> {
  await new MetadataApi(new Configuration({ basePath: publicUrl })).isReady(quick)
}

/**
 * Whether this process can serve: its database answers, it receives events of other processes, and the identity service
 * is ready.
 */
export function createServerHealth(
  app: App,
  options: {
    version: string
    lastMigration: string | undefined
    checks: Record<string, () => Promise<unknown>>
  },
): Health {
  return createHealth({
    version: options.version,
    lastMigration: () => options.lastMigration,
    checks: { database: () => ping(app.database.pool), ...options.checks },
  })
}

/** The state of every part for the status page. */
export function createStatus(app: App, options: { version: string; lastMigration: string | undefined }) {
  const { identityPublicUrl, identityAdminUrl: adminUrl, identityAdminToken: adminToken } = app.config
  const identity = new MetadataApi(new Configuration({ basePath: identityPublicUrl }))
  const identityAdmin = new MetadataApi(adminConfiguration({ adminUrl, adminToken }))
  const known = createTtlCache<'status', Promise<Status>>({ ttlMs, max: 1 })

  async function ask(): Promise<Status> {
    const [database, kratos, kratosVersion] = await Promise.all([
      ping(app.database.pool).then(operational, unavailable),
      identity.isReady(quick).then(operational, unavailable),
      identityAdmin.getVersion(quick).then(({ data }) => data.version || null, unknown),
    ])
    const { version, lastMigration } = options
    return {
      app: { status: 'operational', version },
      crux: { status: database, version },
      kratos: { status: kratos, version: kratosVersion },
      // Existing clients expect the number of the last migration, not its name.
      database: { status: database, version: lastMigration?.split('_', 1)[0] ?? null },
    }
  }

  return (): Promise<Status> => loadShared(known, 'status', ask)
}

const operational = () => 'operational' as const
const unavailable = () => 'unavailable' as const
const unknown = () => null

export async function toHealth(health: Health): Promise<ResponseInput<'system.health'>> {
  const { body } = await health.live()
  if (body.status === 'unavailable') throw new CruxError('serviceUnavailable')
  return body
}
