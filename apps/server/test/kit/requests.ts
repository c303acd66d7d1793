import { contract, type EndpointSpec, type Operation } from '@crux/contract'
import type { TestEnvironment } from './test-environment.ts'

export const operations = Object.keys(contract) as Operation[]
export const getRow = (operation: Operation): EndpointSpec => contract[operation]

/** Switched off, so that nothing that a test does sends a message. */
const notification = {
  name: 'Some',
  type: 'webhook',
  url: 'http://127.0.0.1:9/some',
  active: false,
  enabledEvents: [],
}
const pipeline = {
  name: 'Some',
  type: 'azure',
  repository: { organization: 'company', project: 'shop' },
  trigger: { name: 'deploy' },
  token: 'some token',
}
const toWatcher = ({ registryId }: TestEnvironment) => ({ name: 'Some', event: 'image-push', filters: {}, registryId })

/** A body that the endpoint accepts, so that a refusal never concerns the body. */
export const bodies = (testEnvironment: TestEnvironment): Partial<Record<Operation, unknown>> => ({
  'auth.edit-profile': { flow: 'f', csrfToken: 't', email: 'a@example.com', firstName: 'A', lastName: 'B' },
  'auth.change-password': { flow: 'f', csrfToken: 't', password: 'correct horse battery' },
  'auth.link-provider': { flow: 'f', csrfToken: 't', provider: 'google' },
  'auth.unlink-provider': { flow: 'f', csrfToken: 't', provider: 'google' },
  // No account has this address, so that the account is kept.
  'users.delete-me': { email: 'not-mine@example.com' },
  'teams.create': { name: 'Another team', slug: 'another-team' },
  'teams.update': { name: 'New name', slug: 'new-name' },
  'teams.update-security': { secondFactorRequired: false, allowedDomains: [] },
  'teams.invite': { email: 'somebody@example.com', firstName: 'Some' },
  'teams.change-role': { role: 'user' },
  'tokens.create': { name: 'Some token', expirationInDays: 30 },
  'service-accounts.create': { name: 'Some account', role: 'user' },
  'service-accounts.update': { name: 'Some account', role: 'user' },
  'service-accounts.create-token': { name: 'Some token', expirationInDays: 30 },
  'registries.create': { name: 'Some', type: 'unchecked', details: { local: true } },
  'registries.update': { name: 'Some', type: 'unchecked', details: { local: true } },
  'registries.create-token': { expirationInDays: 30 },
  'registries.hook': { events: [] },
  'registries.hook-github': {},
  'registries.hook-harbor': {},
  'registries.hook-hub': {},
  'projects.create': { name: 'Some', type: 'versioned' },
  'projects.run': {
    key: testEnvironment.projectId,
    image: 'a:1',
    registryId: testEnvironment.registryId,
    nodeId: testEnvironment.nodeId,
    prefix: 'some',
  },
  'projects.update': { name: 'Some' },
  'versions.create': { name: '2.0.0', type: 'rolling' },
  'versions.update': { name: '2.0.0' },
  'versions.increase': { name: '2.0.0' },
  'projects.import': {
    project: { name: 'Imported', type: 'versionless' },
    images: [{ registryId: testEnvironment.registryId, name: 'a' }],
  },
  'versions.import': {
    name: '3.0.0',
    type: 'rolling',
    images: [{ registryId: testEnvironment.registryId, name: 'a' }],
  },
  'images.create': [{ registryId: testEnvironment.registryId, images: ['a:1'] }],
  'images.order': [testEnvironment.imageId],
  'images.update': { tag: '2' },
  'nodes.create': { name: 'Some' },
  'nodes.update': { name: 'Some' },
  'prefix-data.delete': { claims: [{ name: 'web-data', uid: 'some' }], namespace: false },
  'nodes.prune-images': { imageIds: [`sha256:${'0'.repeat(64)}`] },
  'nodes.create-script': { type: 'docker', scriptType: 'shell' },
  'deployments.create': { versionId: testEnvironment.versionId, nodeId: testEnvironment.nodeId, prefix: 'some' },
  'deployments.update': { prefix: 'some', protected: false },
  'deployments.copy': { nodeId: testEnvironment.nodeId, prefix: 'other' },
  'deployments.start': {},
  'deployments.update-instance': { config: { name: 'web' } },
  'deployments.create-token': { name: 'Some token' },
  'container-configurations.update': { config: { name: 'web' } },
  'container-configurations.restore': {},
  'container-configurations.copy': { fromConfigId: testEnvironment.configId },
  'config-bundles.create': { name: 'Some' },
  'config-bundles.update': { name: 'Some' },
  'templates.create': {
    id: 'wordpress',
    teamSlug: testEnvironment.teamSlug,
    name: 'Some template',
    type: 'versionless',
  },
  'pipelines.create': pipeline,
  'pipelines.update': pipeline,
  'pipelines.trigger': {},
  'pipelines.create-event-watcher': toWatcher(testEnvironment),
  'pipelines.update-event-watcher': toWatcher(testEnvironment),
  'pipelines.hook-azure': {},
  'pipelines.hook-github': {},
  'pipelines.hook-gitlab': {},
  'storages.create': { name: 'Some', url: 'https://s3.example.com', public: true },
  'storages.update': { name: 'Some', url: 'https://s3.example.com', public: true },
  'packages.create': { name: 'Some', chainIds: [testEnvironment.versionId] },
  'packages.update': { name: 'Some', chainIds: [testEnvironment.versionId] },
  'packages.create-environment': { name: 'some', nodeId: testEnvironment.nodeId, prefix: 'some' },
  'packages.update-environment': { name: 'some', nodeId: testEnvironment.nodeId, prefix: 'some' },
  'packages.order-environments': [testEnvironment.environmentId],
  'packages.create-deployment': { versionId: testEnvironment.versionId },
  'packages.promote': { versionId: testEnvironment.versionId },
  'packages.create-freeze-window': freezeWindow,
  'packages.update-freeze-window': freezeWindow,
  'notifications.create': notification,
  'notifications.update': notification,
})

const freezeWindow = {
  kind: 'weekly',
  reason: 'Some',
  days: [1],
  from: '09:00',
  to: '10:00',
  timeZone: 'Europe/Budapest',
}

const range = 'from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z'
const queries: Partial<Record<Operation, string>> = {
  'images.inspect': '?image=a:1',
  'nodes.run-proposal': '?image=a:1',
  'deployments.list': '?skip=0&take=50',
  'pipelines.runs': '?skip=0&take=50',
  'deployments.log': '?skip=0&take=50',
  'container-configurations.list': '?skip=0&take=50',
  'container-configurations.history': '?skip=0&take=50',
  'packages.promotions': '?skip=0&take=50',
  'notifications.deliveries': '?skip=0&take=50',
  'nodes.machines': '?skip=0&take=50',
  'nodes.audit': `?skip=0&take=50&${range}`,
  'audit-log.list': `?skip=0&take=50&${range}`,
  'audit-log.days': `?${range}`,
  'audit-log.export-csv': `?${range}`,
  'audit-log.export-ndjson': `?${range}`,
}

/** The address of an operation in a test environment, with the query that it needs. */
export const toPath = (operation: Operation, testEnvironment: TestEnvironment): string =>
  getRow(operation).path.replace(/:(\w+)/g, (_, name: string) => {
    const values: Record<string, string> = {
      ...testEnvironment,
      prefix: 'shop',
      name: 'web',
      number: '1',
      revision: '1',
      kind: 'github',
      secret: 'none',
    }
    return values[name] ?? ''
  }) +
  (operation === 'packages.preview-promotion' ? `?versionId=${testEnvironment.versionId}` : (queries[operation] ?? ''))

/** The operation with a valid body. */
export function createInit(operation: Operation, testEnvironment: TestEnvironment): RequestInit {
  const body = bodies(testEnvironment)[operation]
  const { method } = getRow(operation)
  if (body === undefined) return { method }
  return { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}
