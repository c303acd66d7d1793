import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import type { Browser } from '../registries/index.ts'
import { importProject, importVersion } from './actions.ts'
import { exportVersion } from './export.ts'

type ImportOperation = 'projects.import' | 'versions.import' | 'versions.compose'

export function importRoutes(app: App, browser: Browser): Handlers<ImportOperation> {
  return {
    'projects.import': async ({ caller, body, audited }) => {
      const { name, type } = body.project
      audited({ project: { name, type }, version: body.version?.name, images: body.images.length })
      return await importProject(app, browser, caller, body)
    },
    'versions.import': async ({ caller, params, body, audited }) => {
      audited({ name: body.name, type: body.type, images: body.images.length })
      return await importVersion(app, browser, caller, params.projectId, body)
    },
    'versions.compose': async ({ caller, params, reply }) => {
      const { fileName, text } = await exportVersion(app, caller, params)
      reply.header('content-disposition', `attachment; filename="${fileName}"`)
      return text
    },
  }
}
