import { errorCode } from './errors.ts'
import { withinTime } from './within-time.ts'
export type HealthStatus = 'operational' | 'disrupted' | 'unavailable'

export interface HealthReport {
  status: HealthStatus
  version: string
  lastMigration?: string
  /** Per check `ok` or the problem, without secrets. */
  checks?: Record<string, string>
}

export interface Health {
  /** `/health`: liveness. Always 200; `disrupted` while a check fails. */
  live(): Promise<{ statusCode: 200; body: HealthReport }>
  /** `/health/ready`: readiness. 503 while a check fails. */
  ready(): Promise<{ statusCode: 200 | 503; body: HealthReport }>
}

/**
 * @param options.checks the readiness conditions; each rejects with the reason
 * @param options.lastMigration name of the newest migration, once known
 * @param options.timeoutMs how long one check may take
 */
export function createHealth(options: {
  version: string
  checks?: Record<string, () => Promise<unknown>>
  lastMigration?: () => string | undefined
  timeoutMs?: number
}): Health {
  const { version, checks = {}, timeoutMs = 2_000 } = options

  async function report(): Promise<HealthReport & { checks: Record<string, string> }> {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await outcome(check, timeoutMs)] as const),
    )
    const lastMigration = options.lastMigration?.()
    return {
      status: results.every(([, result]) => result === 'ok') ? 'operational' : 'disrupted',
      version,
      ...(lastMigration === undefined ? {} : { lastMigration }),
      checks: Object.fromEntries(results),
    }
  }

  return {
    async live() {
      const { checks: _, ...body } = await report()
      return { statusCode: 200, body }
    },
    async ready() {
      const body = await report()
      return { statusCode: body.status === 'operational' ? 200 : 503, body }
    },
  }
}

/** Error texts of libraries may contain addresses and users, so only the kind of error is reported. */
async function outcome(check: () => Promise<unknown>, timeoutMs: number): Promise<string> {
  try {
    return await withinTime(
      check().then(() => 'ok'),
      timeoutMs,
      () => 'no answer in time',
    )
  } catch (error) {
    return `failed: ${errorCode(error) || (error instanceof Error ? error.name : 'unknown error')}`
  }
}
