import { randomUUID } from 'node:crypto'
import type { Someone, TestServer, TestTeam } from './index.ts'

/** The ids of one resource of each kind in a team. */
export type TestEnvironment = {
  teamSlug: string
  teamId: string
  registryId: string
  projectId: string
  versionId: string
  imageId: string
  nodeId: string
  deploymentId: string
  instanceId: string
  configId: string
  configBundleId: string
  storageId: string
  notificationId: string
  deliveryId: string
  serviceAccountId: string
  packageId: string
  /** On the node, with another prefix than the deployment. */
  environmentId: string
  /** A freeze window of the environment that lies far in the future. */
  windowId: string
  pipelineId: string
  eventWatcherId: string
  /** The owner, and one of their API tokens. */
  userId: string
  tokenId: string
}

/**
 * One resource of each kind that a team may have, created through the API. Registries are unchecked, so that no outside
 * server gets a request.
 */
export async function makeTestEnvironment(crux: TestServer, owner: Someone, team?: TestTeam): Promise<TestEnvironment> {
  const { id: teamId, slug: teamSlug } = team ?? (await crux.createTeam(owner))
  const { call } = crux.client(owner)
  const params = { teamSlug }
  const registry = await call('registries.create', {
    params,
    body: { name: 'Anywhere', type: 'unchecked', details: { local: true, public: true } },
  })
  const project = await call('projects.create', { params, body: { name: 'Shop', type: 'versioned' } })
  const inProject = { ...params, projectId: project.id }
  const version = await call('versions.create', { params: inProject, body: { name: '1.0.0', type: 'incremental' } })
  const inVersion = { ...inProject, versionId: version.id }
  const [image] = await call('images.create', {
    params: inVersion,
    body: [{ registryId: registry.id, images: ['shop/web:1'] }],
  })
  const node = await call('nodes.create', { params, body: { name: 'Machine' } })
  const deployment = await call('deployments.create', {
    params,
    body: { versionId: version.id, nodeId: node.id, prefix: 'shop' },
  })
  const details = await call('deployments.get', { params: { ...params, deploymentId: deployment.id } })
  const [instance] = details.instances
  const bundle = await call('config-bundles.create', { params, body: { name: 'Defaults' } })
  const storage = await call('storages.create', {
    params,
    // Connections to this port are refused at once.
    body: { name: 'Files', url: 'http://127.0.0.1:9', public: true },
  })
  const notification = await call('notifications.create', {
    params,
    // It is switched off, so that nothing that a test does sends a message.
    body: { name: 'Hook', type: 'webhook', url: 'http://127.0.0.1:9/hook', active: false, enabledEvents: [] },
  })
  const inNotification = { ...params, notificationId: notification.id }
  // It is refused, and recorded as a delivery.
  await call('notifications.test', { params: inNotification }).catch(() => undefined)
  const { items: deliveries } = await call('notifications.deliveries', {
    params: inNotification,
    query: { skip: 0, take: 1 },
  })
  const account = await call('service-accounts.create', { params, body: { name: 'Robot', role: 'user' } })
  const made = await call('packages.create', { params, body: { name: 'Platform', chainIds: [version.id] } })
  const inPackage = { ...params, packageId: made.id }
  const environment = await call('packages.create-environment', {
    params: inPackage,
    body: { name: 'prod', nodeId: node.id, prefix: 'boxed' },
  })
  const window = await call('packages.create-freeze-window', {
    params: { ...inPackage, environmentId: environment.id },
    body: { kind: 'once', reason: 'Holidays', from: '2100-01-01T00:00:00Z', to: '2100-01-02T00:00:00Z' },
  })
  const pipeline = await insertPipeline(crux, teamId, registry.id)
  const tokens = await call('tokens.list')
  const token = tokens[0] ?? (await call('tokens.create', { body: { name: 'Script', expirationInDays: 0 } }))
  const [delivery] = deliveries
  if (!delivery) throw new Error('the test of the notification was not recorded')
  if (!image || !instance) throw new Error('the version has no image')
  // This creates a history.
  await call('container-configurations.update', {
    params: { ...params, configId: image.config.id },
    body: { config: { tty: true } },
  })
  return {
    teamSlug,
    teamId,
    registryId: registry.id,
    projectId: project.id,
    versionId: version.id,
    imageId: image.id,
    nodeId: node.id,
    deploymentId: deployment.id,
    instanceId: instance.id,
    configId: image.config.id,
    configBundleId: bundle.id,
    storageId: storage.id,
    notificationId: notification.id,
    deliveryId: delivery.id,
    serviceAccountId: account.id,
    packageId: made.id,
    environmentId: environment.id,
    windowId: window.id,
    ...pipeline,
    userId: owner.id,
    tokenId: token.id,
  }
}

/** A pipeline with an event watcher and a run. It is inserted, because creating one asks its service. */
async function insertPipeline({ app }: TestServer, teamId: string, registryId: string) {
  const { pool } = app.database
  const pipelineId = randomUUID()
  const eventWatcherId = randomUUID()
  const token = app.cipher.encrypt('token', { column: 'pipeline.token', row: pipelineId })
  await pool.query(
    `insert into crux.pipeline (id, team_id, name, type, organization, project, trigger_name, external_pipeline_id,
       token, created_by, updated_by)
     values ($1, $2, 'Deploy', 'azure', 'company', 'shop', 'deploy', '42', $3, 'system', 'system')`,
    [pipelineId, teamId, token],
  )
  await pool.query(
    `insert into crux.pipeline_event_watcher (id, pipeline_id, registry_id, name, event, created_by, updated_by)
     values ($1, $2, $3, 'On push', 'image-push', 'system', 'system')`,
    [eventWatcherId, pipelineId, registryId],
  )
  await pool.query(
    `insert into crux.pipeline_run (pipeline_id, status, creator_type, created_by_id, created_by_name)
     values ($1, 'successful', 'user', 'system', 'system')`,
    [pipelineId],
  )
  return { pipelineId, eventWatcherId }
}
