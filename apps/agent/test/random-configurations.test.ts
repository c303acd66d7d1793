import { mkdtemp, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ContainerConfigFields, FinalContainerConfig } from '@crux/contract'
import { bootSystem, type System } from '@crux/dev-env'
import { arbitraryDeployable } from '@crux/rules/arbitrary-deployable'
import {
  createDeployment,
  createService,
  createTestEnvironment,
  deploy,
  freePort,
  freePortRange,
  type Registry,
  removeContainers,
  signUp,
  startRegistry,
  startStorage,
  storageAccount,
  storageMissing,
  type TestEnvironment,
  type TestStorage,
  unique,
  web,
} from '@crux/test-kit'
import { sample } from 'fast-check'
import { createMessage, encrypt, readKey } from 'openpgp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { differences } from './field-table/differences.ts'
import { openEngine } from './kit/index.ts'

/** Every run deploys the same configurations; CRUX_TEST_SEED sets another seed. */
const seed = Number(process.env.CRUX_TEST_SEED ?? 20_261_122)
const total = process.env.CRUX_TEST_FULL === '1' ? 200 : 20
const perRelease = 10
const networkName = unique('rnd')

const docker = openEngine()
let registry: Registry
let storage: TestStorage | undefined
let system: System
let testEnvironment: TestEnvironment
let image: string
let storageId: string | undefined

beforeAll(async () => {
  registry = await startRegistry()
  // Without an S3 server the field is left out: the tests of the import are then skipped and report that.
  if (storageMissing() === undefined) storage = await startStorage()
  system = await bootSystem({
    dataDir: await mkdtemp(join(tmpdir(), 'crux-random-')),
    port: 0,
    identityPublicPort: 0,
    identityAdminPort: 0,
    durable: false,
    env: { LOG_LEVEL: 'warn', CRUX_RATE_LIMITS: 'off' },
  })
  testEnvironment = await createTestEnvironment(await signUp(system.url), registry)
  const name = unique('random/')
  await registry.push(name, '1', web('random'))
  image = `${registry.host}/${name}:1`
  if (storage) {
    await storage.createBucket('random')
    await storage.put('random', 'object.txt', 'imported')
    const body = { name: unique('s3 '), url: storage.url, public: false, ...storageAccount }
    storageId = (
      await testEnvironment.user.client.call('storages.create', {
        params: { teamSlug: testEnvironment.teamSlug },
        body,
      })
    ).id
  }
})
afterAll(async () => {
  await system?.stop()
  if (testEnvironment) await removeContainers(`dev.crux.team=${testEnvironment.teamId}`)
  for (const { Id, Name } of await docker.listNetworks())
    if (Name.includes(networkName))
      await docker
        .getNetwork(Id)
        .remove()
        .catch(() => undefined)
  await system?.destroy()
  await storage?.dispose()
  await registry?.remove()
})

async function makeConfigs(from: number, count: number): Promise<FinalContainerConfig[]> {
  const configs: FinalContainerConfig[] = []
  for (let index = from; index < from + count; index++) {
    const options = {
      hostPorts: [await freePort(), await freePort(), await freePort()],
      hostRange: await freePortRange(3),
      networkName,
      image,
      ...(storageId ? { storage: { storageId, bucket: 'random' } } : {}),
    }
    const [config] = sample(arbitraryDeployable(options), { numRuns: 1, seed: seed + index })
    if (!config) throw new Error('fast-check gives what it is asked for')
    // The routed host contains the name too.
    const named = JSON.parse(
      JSON.stringify(config).replaceAll(`.${config.name}.${networkName}`, `.r${index}.${networkName}`),
    )
    configs.push({ ...(named as FinalContainerConfig), name: `r${index}` })
  }
  return configs
}

/** Fields that are valid without the others of their layer; the rest stays together, so that each layer is valid by itself. */
const free = [
  ...['user', 'tty', 'workingDirectory', 'commands', 'args', 'capabilities', 'ulimits', 'shmSize', 'extraHosts'],
  ...['networks', 'dockerLabels', 'logConfig', 'restartPolicy', 'resourceConfig', 'expectedState', 'labels'],
  ...['deploymentStrategy', 'customHeaders', 'proxyHeaders', 'useLoadBalancer', 'extraLBAnnotations', 'annotations'],
] as const

/** Distributes a configuration over the layers of image and instance, with weaker values that must be overridden. */
function toLayers(config: FinalContainerConfig, index: number) {
  const image: Record<string, unknown> = { ...config, secrets: config.secrets.map(({ value: _, ...row }) => row) }
  const instance: Record<string, unknown> = {}
  for (const [place, field] of free.entries()) {
    if (!(field in config) || (place + index) % 3 !== 0) continue
    instance[field] = config[field as keyof FinalContainerConfig]
    delete image[field]
  }
  const [first, ...others] = config.environment
  if (first) {
    image.environment = [{ key: first.key, value: 'weaker' }, ...others]
    instance.environment = [first]
  }
  return { image: image as Partial<ContainerConfigFields>, instance: instance as Partial<ContainerConfigFields> }
}

async function sealed(config: FinalContainerConfig, publicKey: string) {
  const encryptionKeys = await readKey({ armoredKey: publicKey })
  return Promise.all(
    config.secrets.map(async ({ key, required, value = '' }) => ({
      key,
      required,
      encrypted: true,
      publicKey,
      value: String(await encrypt({ message: await createMessage({ text: value }), encryptionKeys })),
    })),
  )
}

/** Uses the API as a user would: layers, secrets, start; returns the merged configurations. */
async function deployAll(
  configs: FinalContainerConfig[],
  prefix: string,
  from: number,
): Promise<FinalContainerConfig[]> {
  const { client } = testEnvironment.user
  const params = { teamSlug: testEnvironment.teamSlug }
  const layers = configs.map((config, index) => toLayers(config, from + index))
  const [repository = '', tag = ''] = image.slice(registry.host.length + 1).split(':')
  const service = await createService(
    testEnvironment,
    layers.map((layer) => ({ name: repository, tag, config: layer.image })),
  )
  const deployment = await createDeployment(testEnvironment, service, prefix)
  const bundle = await client.call('config-bundles.create', { params, body: { name: unique('bundle ') } })
  await client.call('config-bundles.update', {
    params: { ...params, configBundleId: bundle.id },
    body: { config: { environment: [{ key: 'FROM_BUNDLE', value: 'bundle' }] } },
  })
  const ofDeployment = { params: { ...params, deploymentId: deployment.id } }
  await client.call('deployments.update', {
    ...ofDeployment,
    body: { prefix, protected: false, configBundles: [bundle.id] },
  })
  const { instances, publicKey } = await client.call('deployments.get', ofDeployment)
  for (const [index, imageId] of service.imageIds.entries()) {
    const instance = instances.find((candidate) => candidate.image.id === imageId)
    const config = configs[index]
    if (!instance || !config) throw new Error('each image has an instance')
    await client.call('deployments.update-instance', {
      params: { ...params, deploymentId: deployment.id, instanceId: instance.id },
      body: { config: { ...layers[index]?.instance, secrets: await sealed(config, publicKey ?? '') } },
    })
  }
  const result = await deploy(testEnvironment, deployment.id)
  expect(`${result.status} ${result.outcome}`, `seed ${seed}`).toMatch(/^successful/)
  return configs.map((config) => ({
    ...config,
    environment: [...config.environment, { key: 'FROM_BUNDLE', value: 'bundle' }],
  }))
}

/** Files that preparations must have copied into the volumes; the engine does not show them. */
async function missingFiles(config: FinalContainerConfig, prefix: string): Promise<string[]> {
  const read = (volume: string, file: string) =>
    readFile(join(system.dataDir, 'agents', testEnvironment.nodeId, prefix, config.name, volume, file), 'utf8').catch(
      (error: Error) => error.message,
    )
  const { configContainer, storage: use, initContainers } = config
  const wanted = [
    ...(configContainer ? [[configContainer.volume, 'index.html', 'random'] as const] : []),
    ...(use?.path ? [[use.path, 'object.txt', 'imported'] as const] : []),
    ...(initContainers ?? []).flatMap(({ name, environment, volumes }) =>
      (volumes ?? []).map((link) => [link.name, `init-${name}`, environment?.[0]?.value ?? ''] as const),
    ),
  ]
  const found = await Promise.all(wanted.map(async ([volume, file]) => read(volume, file)))
  return wanted.flatMap(([volume, file, content], index) =>
    found[index] === content
      ? []
      : [`${volume}/${file}: ${JSON.stringify(content)} became ${JSON.stringify(found[index])}`],
  )
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('close', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

const used = new Set<string>()

test(
  `${total} random configurations of all fields pass from their layers through the server to the engine unchanged`,
  async () => {
    const found: string[] = []
    for (let done = 0; done < total; done += perRelease) {
      const prefix = unique('r')
      const configs = await deployAll(await makeConfigs(done, Math.min(perRelease, total - done)), prefix, done)
      for (const config of configs) {
        const info = await docker.getContainer(`${prefix}-${config.name}`).inspect()
        const held = config.portGate?.enabled ? config.ports.flatMap(({ external }) => external ?? []) : []
        const closed = (await Promise.all(held.map(async (port) => ((await answers(port)) ? [] : [port])))).flat()
        for (const difference of [
          ...differences(config, info),
          ...(await missingFiles(config, prefix)),
          ...closed.map((port) => `the gate does not hold port ${port}`),
        ])
          found.push(`seed ${seed + Number(config.name.slice(1))}: ${difference}`)
        for (const [field, value] of Object.entries(config))
          if (Array.isArray(value) ? value.length > 0 : value != null) used.add(field)
      }
      await removeContainers(`dev.crux.prefix=${prefix}`)
    }
    expect(found).toEqual([])
    // The configurations are random, but together they must contain every field.
    const fields = [
      ...['secrets', 'commands', 'args', 'portRanges', 'networkMode', 'expose', 'routing', 'portGate', 'metrics'],
      ...['initContainers', 'configContainer', 'healthCheckConfig', 'expectedState', 'labels', 'annotations'],
      ...(storageId ? ['storage'] : []),
    ]
    expect(fields.filter((field) => !used.has(field))).toEqual([])
  },
  total * 20_000 + 120_000,
)
