import { patchConfig } from '../container-configurations/index.ts'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import {
  cancelDeployment,
  getLog,
  listReleases,
  openLogFile,
  startDeployment,
  startRelease,
  waitForRelease,
} from '../releases/index.ts'
import { copyDeployment, createDeployment, deleteDeployment, updateDeployment } from './actions.ts'
import { getDeployment } from './details.ts'
import { finalConfigurations } from './final-configurations.ts'
import { getInstance } from './instance-store.ts'
import { listDeployments, listOfBundle, listOfNode } from './list-store.ts'
import { previewRelease, previewStart } from './preview.ts'
import { getDeploymentSecrets, getInstanceSecrets } from './secrets.ts'
import { createDeploymentToken, deleteDeploymentToken } from './token.ts'

type Operations = Extract<keyof Handlers, `deployments.${string}`> | 'nodes.deployments' | 'config-bundles.deployments'

export const deploymentRoutes = (app: App): Handlers<Operations> => ({
  'deployments.list': ({ team, query }) => listDeployments(app, team, query),
  'deployments.get': ({ team, params }) => getDeployment(app, team, params.deploymentId),
  'deployments.create': ({ team, actor, body }) => createDeployment(app, { team, actor }, body),
  'deployments.update': async ({ team, actor, params, body }) => {
    await updateDeployment(app, { team, actor }, params.deploymentId, body)
    return undefined
  },
  'deployments.delete': async ({ team, actor, params, query }) => {
    await deleteDeployment(app, { team, actor }, params.deploymentId, { containers: query.containers === 'true' })
    return undefined
  },
  'deployments.start': async ({ team, actor, params, query, body, audited, recorded, reply }) => {
    const options = { ...body, ignoreProtected: query.ignoreProtected === 'true' }
    const { number, confirmed } = await startDeployment(app, { team, actor }, params.deploymentId, options)
    if (confirmed.length > 0) audited({ confirmed })
    if (query.wait === undefined) return undefined
    await recorded()
    const release = { deploymentId: params.deploymentId, number }
    const { ended, ...answer } = await waitForRelease(app, release, { seconds: query.wait, onGone: reply.onClose })
    reply.status(ended ? 200 : 202)
    return answer
  },
  'deployments.preview': ({ team, actor, params, query }) =>
    previewStart(app, { team, actor }, params.deploymentId, query.instances),
  'deployments.preview-release': ({ team, actor, params }) =>
    previewRelease(app, { team, actor }, params.deploymentId, params.number),
  'deployments.final-configuration': ({ team, params }) => finalConfigurations(app, team, params.deploymentId),
  'deployments.secrets': ({ team, params }) => getDeploymentSecrets(app, team, params.deploymentId),
  'deployments.instance-secrets': ({ team, params }) => getInstanceSecrets(app, team, params),
  'deployments.cancel': async ({ team, actor, params }) => {
    await cancelDeployment(app, { team, actor }, params.deploymentId)
    return undefined
  },
  'deployments.copy': ({ team, actor, params, body }) =>
    copyDeployment(app, { team, actor }, params.deploymentId, body),
  'deployments.log': ({ team, params, query }) => getLog(app, team, params.deploymentId, query),
  'deployments.log-file': async ({ team, params, query, reply }) => {
    const { name, bytes } = await openLogFile(app, team, params.deploymentId, query.try)
    reply.header('content-disposition', `attachment; filename="${name}"`)
    return bytes
  },
  'deployments.releases': ({ team, params }) => listReleases(app, team, params.deploymentId),
  'deployments.start-release': async ({ team, actor, params, query, audited }) => {
    const options = { ignoreProtected: query.ignoreProtected === 'true' }
    const { confirmed } = await startRelease(app, { team, actor }, params.deploymentId, params.number, options)
    if (confirmed.length > 0) audited({ confirmed })
    return undefined
  },
  'deployments.get-instance': ({ team, params }) => getInstance(app, team, params),
  'deployments.update-instance': async ({ team, actor, params, body }) => {
    const { config } = await getInstance(app, team, params)
    await patchConfig(app, { team, actor }, config.id, { config: body.config, typing: body.typing })
    return undefined
  },
  'deployments.create-token': ({ team, actor, params, body }) =>
    createDeploymentToken(app, { team, actor }, params.deploymentId, body),
  'deployments.delete-token': async ({ team, actor, params }) => {
    await deleteDeploymentToken(app, { team, actor }, params.deploymentId)
    return undefined
  },
  'config-bundles.deployments': ({ team, params }) => listOfBundle(app, team, params.configBundleId),
  'nodes.deployments': ({ team, params }) => listOfNode(app, team, params.nodeId),
})
