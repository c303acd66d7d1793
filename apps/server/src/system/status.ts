import { type Answer, CruxError } from '@crux/contract'
import { createHealth, type Health } from '@crux/service-kit'
import type { App } from '../context.ts'

/** How long an answer of `/api/status` holds: the page may be open to everybody. */
const rememberMs = 5_000

type Status = Answer<'system.status'>

/** Whether this process can serve: its database answers, and the identity service does. */
export function createServerHealth(app: App, options: { version: string; lastMigration: string | undefined }): Health {
  return createHealth({
    version: options.version,
    lastMigration: () => options.lastMigration,
    checks: { database: () => app.database.pool.query('select 1') },
  })
}

/** State of every part for the status page (backend.md 2.13). */
export function createStatus(app: App, options: { version: string; lastMigration: string | undefined }) {
  let known: { at: number; status: Promise<Status> } | undefined

  async function ask(): Promise<Status> {
    const [database, kratos, kratosVersion] = await Promise.all([
      app.database.pool.query('select 1').then(operational, unavailable),
      fetch(`${app.config.identityPublicUrl}/health/ready`, { signal: AbortSignal.timeout(2_000) }).then(
        (answer) => (answer.ok ? operational() : unavailable()),
        unavailable,
      ),
      versionOfIdentity(app),
    ])
    const { version, lastMigration } = options
    return {
      app: { status: 'operational', version },
      crux: { status: database, version },
      kratos: { status: kratos, version: kratosVersion },
      // The number of the last migration, not its name (backend.md 2.13).
      database: { status: database, version: lastMigration?.split('_', 1)[0] ?? null },
    }
  }

  return (): Promise<Status> => {
    if (!known || Date.now() - known.at > rememberMs) known = { at: Date.now(), status: ask() }
    return known.status
  }
}

async function versionOfIdentity({ config }: App): Promise<string | null> {
  const headers = config.identityAdminToken ? { authorization: `Bearer ${config.identityAdminToken}` } : undefined
  try {
    const answer = await fetch(`${config.identityAdminUrl}/version`, { headers, signal: AbortSignal.timeout(2_000) })
    const body = (await answer.json()) as { version?: unknown }
    return answer.ok && typeof body.version === 'string' ? body.version : null
  } catch {
    return null
  }
}

const operational = () => 'operational' as const
const unavailable = () => 'unavailable' as const

export async function healthOf(health: Health): Promise<Answer<'system.health'>> {
  const { body } = await health.live()
  if (body.status === 'unavailable') throw new CruxError('serviceUnavailable')
  return body
}
