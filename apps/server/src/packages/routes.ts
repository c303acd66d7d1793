import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import { createPackage, deletePackage, getPackage, listPackages, listVersionChains, updatePackage } from './actions.ts'
import { getBoard } from './board.ts'
import {
  createEnvironment,
  deleteEnvironment,
  getEnvironment,
  orderEnvironments,
  updateEnvironment,
} from './environments.ts'
import { createDeployment, listPromotions, previewPromotion, promote } from './promotions.ts'

type Operations =
  | Exclude<Extract<keyof Handlers, `packages.${string}`>, `packages.${string}-freeze-window`>
  | 'projects.version-chains'

export const packageRoutes = (app: App): Handlers<Operations> => ({
  'projects.version-chains': ({ caller, params }) => listVersionChains(app, caller, params.projectId),
  'packages.list': ({ caller }) => listPackages(app, caller),
  'packages.get': ({ caller, params }) => getPackage(app, caller, params.packageId),
  'packages.board': ({ caller, params }) => getBoard(app, caller, params.packageId),
  'packages.create': ({ caller, body }) => createPackage(app, caller, body),
  'packages.update': ({ caller, params, body }) => updatePackage(app, caller, params.packageId, body),
  'packages.delete': ({ caller, params }) => deletePackage(app, caller, params.packageId),
  'packages.create-environment': ({ caller, params, body }) => createEnvironment(app, caller, params.packageId, body),
  'packages.order-environments': ({ caller, params, body }) => orderEnvironments(app, caller, params.packageId, body),
  'packages.get-environment': ({ caller, params }) => getEnvironment(app, caller, params),
  'packages.update-environment': ({ caller, params, body }) => updateEnvironment(app, caller, params, body),
  'packages.delete-environment': ({ caller, params }) => deleteEnvironment(app, caller, params),
  'packages.create-deployment': ({ caller, params, body }) => createDeployment(app, caller, params, body),
  'packages.promotions': ({ caller, params, query }) => listPromotions(app, caller, params, query),
  'packages.preview-promotion': ({ caller, params, query }) => previewPromotion(app, caller, params, query),
  'packages.promote': async ({ caller, params, body, audited }) => {
    const { promotion, confirmed, override } = await promote(app, caller, params, body)
    const { deploymentId, releaseNumber } = promotion
    audited({ deploymentId, releaseNumber, ...(confirmed.length > 0 && { confirmed }), ...override })
    return promotion
  },
})
