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
  serviceAccountId: string
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
  const account = await call('service-accounts.create', { params, body: { name: 'Robot', role: 'user' } })
  const pipeline = await insertPipeline(crux, teamId, registry.id)
  const tokens = await call('tokens.list')
  const token = tokens[0] ?? (await call('tokens.create', { body: { name: 'Script', expirationInDays: 0 } }))
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
    serviceAccountId: account.id,
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
