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
    userId: owner.id,
    tokenId: token.id,
  }
}
