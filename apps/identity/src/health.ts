import { createHealth } from '@crux/service-kit'
import type { App } from './context.ts'
import type { Routes } from './http/routes.ts'
import { version } from './version.ts'

/** `/health/alive` and `/health/ready` as the original, `/health` as our other processes. */
export function healthRoutes(app: App, prefix: '' | '/admin'): Routes {
  const health = createHealth({ version, checks: { database: () => app.database.pool.query('select 1') } })
  return {
    [`${prefix}/health`]: {
      GET: async (visit) => visit.reply.send((await health.live()).body),
    },
    [`${prefix}/health/alive`]: { GET: async (visit) => visit.reply.send({ status: 'ok' }) },
    [`${prefix}/health/ready`]: {
      GET: async (visit) => {
        const { statusCode, body } = await health.ready()
        if (statusCode === 200) return visit.reply.send({ status: 'ok' })
        return visit.reply.code(503).send({ errors: body.checks })
      },
    },
  }
}
