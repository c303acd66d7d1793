import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import type { Browser } from '../registries/index.ts'
import { runImage, toAnswer, toAuditData } from './actions.ts'
import { inspectImage } from './inspect.ts'
import { proposeRun } from './proposals.ts'

export function runImageRoutes(
  app: App,
  browser: Browser,
): Handlers<'projects.run' | 'images.inspect' | 'nodes.run-proposal'> {
  return {
    'projects.run': async ({ caller, body, audited }) => {
      const started = await runImage(app, browser, caller, body)
      audited(toAuditData(body, started))
      return toAnswer(started)
    },
    'images.inspect': ({ caller, query }) => inspectImage(app, browser, caller, query.image),
    'nodes.run-proposal': ({ caller, params, query }) => proposeRun(app, caller, params, query),
  }
}
