import { createHealth } from '@crux/service-kit'
import type { App } from '../app/app.ts'
import { version } from '../app/version.ts'
import type { Routes } from './routes.ts'

/** `/health/alive` and `/health/ready` are those of Ory Kratos, `/health` is that of the other Crux processes. */
export function healthRoutes(app: App, prefix: '' | '/admin'): Routes {
  const health = createHealth({ version, checks: { database: () => app.database.pool.query('select 1') } })
  return {
    [`${prefix}/health`]: {
      GET: async (ctx) => ctx.reply.send((await health.live()).body),
    },
    [`${prefix}/health/alive`]: { GET: async (ctx) => ctx.reply.send({ status: 'ok' }) },
    [`${prefix}/health/ready`]: {
      GET: async (ctx) => {
        const { statusCode, body } = await health.ready()
        if (statusCode === 200) return ctx.reply.send({ status: 'ok' })
        return ctx.reply.code(503).send({ errors: body.checks })
      },
    },
  }
}
