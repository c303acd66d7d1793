import type { FollowMode } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import { patchConfig } from '../container-configurations/index.ts'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import {
  cancelDeployment,
  createDriftCheck,
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

/** What a new digest of an instance's tag leads to is switched by the domain that follows tags. */
type SwitchFollow = (
  caller: Caller,
  ids: { deploymentId: string; instanceId: string },
  follow: FollowMode,
) => Promise<void>

/** What an admin's start allowed, for the audit log. */
const toAuditData = ({
  confirmed,
  override,
}: Pick<Awaited<ReturnType<typeof startDeployment>>, 'confirmed' | 'override'>) => ({
  ...(confirmed.length > 0 && { confirmed }),
  ...override,
})

export const deploymentRoutes = (
  app: App,
  switchFollow: SwitchFollow,
  findDrift = createDriftCheck(app),
): Handlers<Operations> => ({
  'deployments.list': ({ caller, query }) => listDeployments(app, caller, query),
  'deployments.get': ({ caller, params }) => getDeployment(app, caller, params.deploymentId),
  'deployments.create': ({ caller, body }) => createDeployment(app, caller, body),
  'deployments.update': ({ caller, params, body }) => updateDeployment(app, caller, params.deploymentId, body),
  'deployments.delete': ({ caller, params, query }) =>
    deleteDeployment(app, caller, params.deploymentId, { containers: query.containers === 'true' }),
  'deployments.start': async ({ caller, params, query, body, audited, recorded, reply }) => {
    const options = { ...body, ignoreProtected: query.ignoreProtected === 'true' }
    const { number, ...started } = await startDeployment(app, caller, params.deploymentId, options)
    audited(toAuditData(started))
    if (query.wait === undefined) return undefined
    await recorded()
    const release = { deploymentId: params.deploymentId, number }
    const { ended, ...answer } = await waitForRelease(app, release, { seconds: query.wait, onGone: reply.onClose })
    reply.status(ended ? 200 : 202)
    return answer
  },
  'deployments.preview': ({ caller, params, query }) => previewStart(app, caller, params.deploymentId, query.instances),
  'deployments.preview-release': ({ caller, params }) =>
    previewRelease(app, caller, params.deploymentId, params.number),
  'deployments.final-configuration': ({ caller, params }) => finalConfigurations(app, caller, params.deploymentId),
  'deployments.secrets': ({ caller, params }) => getDeploymentSecrets(app, caller, params.deploymentId),
  'deployments.instance-secrets': ({ caller, params }) => getInstanceSecrets(app, caller, params),
  'deployments.cancel': ({ caller, params }) => cancelDeployment(app, caller, params.deploymentId),
  'deployments.copy': ({ caller, params, body }) => copyDeployment(app, caller, params.deploymentId, body),
  'deployments.log': ({ caller, params, query }) => getLog(app, caller, params.deploymentId, query),
  'deployments.log-file': async ({ caller, params, query, reply }) => {
    const { name, bytes } = await openLogFile(app, caller, params.deploymentId, query.try)
    reply.header('content-disposition', `attachment; filename="${name}"`)
    return bytes
  },
  'deployments.releases': ({ caller, params }) => listReleases(app, caller, params.deploymentId),
  'deployments.drift': ({ caller, params }) => findDrift(caller, params.deploymentId),
  'deployments.start-release': async ({ caller, params, query, body, audited }) => {
    const options = { ...body, ignoreProtected: query.ignoreProtected === 'true' }
    const started = await startRelease(app, caller, params.deploymentId, params.number, options)
    audited({ ...toAuditData(started), ...(body?.takeBackFields && { takeBackFields: true }) })
  },
  'deployments.get-instance': ({ caller, params }) => getInstance(app, caller, params),
  'deployments.update-instance': async ({ caller, params, body, audited }) => {
    const { config } = await getInstance(app, caller, params)
    const { follow, ...patch } = body
    if (patch.config || follow === undefined) await patchConfig(app, caller, config.id, patch)
    if (follow === undefined) return
    audited({ follow })
    await switchFollow(caller, params, follow)
  },
  'deployments.create-token': ({ caller, params, body }) =>
    createDeploymentToken(app, caller, params.deploymentId, body),
  'deployments.delete-token': ({ caller, params }) => deleteDeploymentToken(app, caller, params.deploymentId),
  'config-bundles.deployments': ({ caller, params }) => listOfBundle(app, caller, params.configBundleId),
  'nodes.deployments': ({ caller, params }) => listOfNode(app, caller, params.nodeId),
})
