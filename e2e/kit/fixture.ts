import {
  createDeployment,
  createService,
  createTeam,
  deploy,
  exits,
  freePort,
  idle,
  setTag,
  type TestEnvironment,
  unique,
  web,
} from '@crux/test-kit'
import { newNode } from './node.ts'

/** A team as it looks after a week: running services, a failed one, a node that was not installed yet, and a team without resources. */
export type Fixture = {
  team: string
  teamId: string
  emptyTeam: string
  node: string
  newNode: string
  registry: string
  versioned: { project: string; version: string; readOnly: string }
  versionless: string
  deployment: { good: string; failed: string; prepared: string }
  configuration: { image: string; instance: string }
  container: { prefix: string; name: string }
  /** With the versioned project in both environments; it runs in the first. */
  package: { id: string; dev: string; prod: string }
  bundle: string
  storage: string
}

const environment = Object.entries({
  DATABASE_URL: 'postgres://shop@db:5432/shop',
  LOG_LEVEL: 'info',
  FEATURE_CHECKOUT_EXPRESS: 'true',
}).map(([key, value]) => ({ id: crypto.randomUUID(), key, value }))

const fixtures = new WeakMap<TestEnvironment, Promise<Fixture>>()

/** Creates the fixture of a test environment once, because several files use it and its names are unique. */
export function buildFixture(testEnvironment: TestEnvironment): Promise<Fixture> {
  const fixture = fixtures.get(testEnvironment) ?? build(testEnvironment)
  fixtures.set(testEnvironment, fixture)
  return fixture
}

async function build(testEnvironment: TestEnvironment): Promise<Fixture> {
  const { client } = testEnvironment.user
  const inTeam = { teamSlug: testEnvironment.teamSlug }
  const images = ['api', 'web', 'worker'].map((name) => unique(`acme/${name}-`))
  const [api = '', shop = '', worker = ''] = images
  const service = await createService(
    testEnvironment,
    [
      { name: api, tag: '1.0.0', image: idle('listening'), config: { name: 'api', environment } },
      {
        name: shop,
        tag: '1.0.0',
        image: web('shop'),
        config: { name: 'web', ports: [{ id: crypto.randomUUID(), internal: 8080, external: await freePort() }] },
      },
      { name: worker, tag: '1.0.0', image: idle('ready'), config: { name: 'worker' } },
    ],
    { name: 'Checkout', versioned: '1.0.0' },
  )
  const prefix = unique('shop')
  const good = await createDeployment(testEnvironment, service, prefix)
  await deploy(testEnvironment, good.id)
  const next = await client.call('versions.increase', {
    params: { ...inTeam, projectId: service.projectId, versionId: service.versionId },
    body: { name: '1.1.0', changelog: 'Express checkout, and the worker retries what failed.' },
  })
  // Increasing the version copied the deployment, which is in preparation.
  const increased = await client.call('versions.get', {
    params: { ...inTeam, projectId: service.projectId, versionId: next.id },
  })
  const preparedId = increased.deployments[0]?.id ?? ''

  const job = await createService(
    testEnvironment,
    [{ name: unique('acme/importer-'), tag: '4', image: idle('imported'), config: { name: 'importer' } }],
    { name: 'Nightly import' },
  )
  const failed = await createDeployment(testEnvironment, job, unique('import'))
  await deploy(testEnvironment, failed.id)
  const importer = await client.call('versions.get', {
    params: { ...inTeam, projectId: job.projectId, versionId: job.versionId },
  })
  const importerName = importer.images[0]?.name ?? ''
  // A second release makes a rollback possible.
  await testEnvironment.registry.push(importerName, '4.1', idle('imported faster'))
  await setTag(testEnvironment, job, 0, '4.1')
  await client.call('images.update', {
    params: { ...inTeam, projectId: job.projectId, versionId: job.versionId, imageId: job.imageIds[0] ?? '' },
    body: { config: { environment: environment.slice(1) } },
  })
  await deploy(testEnvironment, failed.id)
  await testEnvironment.registry.push(importerName, '5', exits(3, 0, 'no configuration found at /etc/import.yml'))
  await setTag(testEnvironment, job, 0, '5')
  await deploy(testEnvironment, failed.id)

  const details = await client.call('deployments.get', { params: { ...inTeam, deploymentId: preparedId } })
  const instance = details.instances.find(({ image }) => image.config.name === 'api')
  const bundles = []
  for (const [name, value] of [
    ['Region EU', 'eu-west-1'],
    ['Region US', 'us-east-1'],
  ] as const) {
    const body = { name, description: `What every service of the shop in ${value} gets in each deployment` }
    const bundle = await client.call('config-bundles.create', { params: inTeam, body })
    const config = { environment: [{ id: crypto.randomUUID(), key: 'REGION', value }] }
    await client.call('config-bundles.update', { params: { ...inTeam, configBundleId: bundle.id }, body: { config } })
    bundles.push(bundle.id)
  }
  await client.call('deployments.update', {
    params: { ...inTeam, deploymentId: preparedId },
    body: { prefix: details.prefix, protected: details.protected, note: 'Before the sale', configBundles: bundles },
  })
  const storage = await client.call('storages.create', {
    params: inTeam,
    body: {
      name: 'Assets',
      icon: 'seal',
      description: 'Pictures of the shop',
      url: 'http://localhost:1',
      public: true,
    },
  })
  const pack = await client.call('packages.create', {
    params: inTeam,
    body: { name: 'Web shop', icon: 'goat', description: 'What customers see', chainIds: [service.versionId] },
  })
  const addEnvironment = async (name: string, prefix: string) => {
    const body = { name, nodeId: testEnvironment.nodeId, prefix }
    return client.call('packages.create-environment', { params: { ...inTeam, packageId: pack.id }, body })
  }
  const dev = await addEnvironment('dev', prefix)
  const prod = await addEnvironment('prod', unique('shop-prod'))
  const waiting = await newNode(testEnvironment)
  const empty = await createTeam(testEnvironment.user)
  return {
    team: testEnvironment.teamSlug,
    teamId: testEnvironment.teamId,
    emptyTeam: empty.teamSlug,
    node: testEnvironment.nodeId,
    newNode: waiting.nodeId,
    registry: testEnvironment.registryId,
    versioned: { project: service.projectId, version: next.id, readOnly: service.versionId },
    versionless: job.projectId,
    deployment: { good: good.id, failed: failed.id, prepared: preparedId },
    configuration: { image: instance?.image.config.id ?? '', instance: instance?.config.id ?? '' },
    container: { prefix, name: 'web' },
    package: { id: pack.id, dev: dev.id, prod: prod.id },
    bundle: bundles[0] ?? '',
    storage: storage.id,
  }
}
