import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf'
import { type DeploymentEvent, type Outcome, type Release, ReleaseSchema } from '@crux/agent-protocol'
import { arbitraryConfig } from '@crux/rules/arbitrary-config'
import { createLogger, onUnhandledError, type UnhandledError } from '@crux/service-kit'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { previousContainersRun } from '../src/engines/docker/apply/put-back.ts'
import type { DockerNode } from '../src/engines/docker/apply/release-context.ts'
import { runRelease } from '../src/engines/docker/apply/run-release.ts'
import type { Driver, ImageMetadata } from '../src/engines/docker/containers/container-engine.ts'
import type { Gate } from '../src/engines/docker/gate/gate.ts'
import { createImageClaims } from '../src/engines/docker/images/claims.ts'
import { openFetchedImages } from '../src/engines/docker/images/fetched.ts'
import { createTeamNetworks } from '../src/engines/docker/networks/team-networks.ts'
import { createBindSources } from '../src/engines/docker/volumes/bind-sources.ts'
import { EngineError } from '../src/errors.ts'
import { openDataDirectory } from '../src/files/data-directory.ts'
import { openJournals } from '../src/journal/journal.ts'
import type { AgentClient } from '../src/link/client.ts'
import { Releases } from '../src/releases/releases.ts'
import { openFileLogs } from '../src/state/file-state.ts'
import { waitUntil } from './kit/index.ts'

const seed = Number(process.env.CRUX_TEST_SEED ?? 20_261_122)
const total = process.env.CRUX_TEST_FULL === '1' ? 10_000 : 300

let directory: string
let releases: Releases
/** The outcomes that the server received, by key of the release. */
const outcomes = new Map<string, Outcome>()
const logged: string[] = []
const unhandled: UnhandledError[] = []
let unsubscribe: () => void

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crux-fuzz-'))
  const client = {
    async reportDeployment({ release, events }: { release: Release['key']; events: DeploymentEvent[] }) {
      for (const { event } of events)
        if (event.case === 'outcome') outcomes.set(`${release?.deploymentId}/${release?.number}`, event.value)
      return { acknowledgedSequence: events.at(-1)?.sequence }
    },
  } as unknown as AgentClient
  const log = createLogger({ name: 'fuzz', level: 'error', destination: { write: (line) => void logged.push(line) } })
  const engine = fakeEngine()
  const dataDir = join(directory, 'data')
  const data = await openDataDirectory({ dataDir, dataMountPath: dataDir, log })
  const node: DockerNode = {
    driver: { engine, subscribe: () => () => undefined } as unknown as Driver,
    gate: { unusable: undefined, heldPorts: async () => [], apply: async () => undefined } as unknown as Gate,
    nodeEnvironment: {
      dataMountPath: '/data',
      rootDomain: undefined,
      serverUrl: 'https://crux.example.com',
      seesHost: true,
    },
    data,
    sources: createBindSources(data, { seesHost: true }),
    teamNetworks: createTeamNetworks({ engine, scope: { covers: () => false }, log }),
    decrypt: async (message) => message,
    images: {
      claims: createImageClaims(),
      fetched: await openFetchedImages(join(directory, 'fetched.json'), engine),
      digests: { find: async () => undefined, close: () => undefined },
    },
    createLock: (_key, work) => work(),
    log,
  }
  releases = new Releases({
    engine: {
      applyRelease: (journal, control) => runRelease(journal, node, control),
      previousContainersRun: (sent, signal) => previousContainersRun(engine, sent, undefined, signal),
      releaseEnded: () => undefined,
    },
    journals: openJournals(openFileLogs(join(directory, 'journal'))),
    client,
    log,
  })
  await releases.linkUp([], [])
})
afterAll(async () => {
  await releases.stop()
  await rm(directory, { recursive: true, force: true })
})
beforeEach(() => {
  outcomes.clear()
  logged.length = 0
  unhandled.length = 0
  unsubscribe = onUnhandledError((error) => unhandled.push(error))
})
afterEach(() => unsubscribe())

/** An engine that has every image and creates no container: a release that reaches it has passed all code that reads a release. */
function fakeEngine(): Driver['engine'] {
  const metadata: ImageMetadata = {
    id: 'sha256:1',
    repoDigests: [],
    volumes: [],
    hasHealthCheck: false,
    labels: {},
  }
  return {
    findImage: async () => metadata,
    resolveDigest: async () => `sha256:${'0'.repeat(64)}`,
    checkAccess: async () => undefined,
    observeAll: async () => [],
    observeNetworks: async () => [],
    findByName: async () => undefined,
    ensureNetwork: async () => undefined,
    removeNetworkIfUnused: async () => undefined,
    portTakenByProcess: async () => false,
    tag: async () => undefined,
    create: async () => {
      throw new EngineError('refused', 'this engine makes no containers')
    },
  } as unknown as Driver['engine']
}

const oddTexts = [
  '',
  ' ',
  '.',
  '..',
  '../../etc/passwd',
  'a/b',
  '-',
  '--privileged',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '\u0000',
  'a\r\nb: c',
  '\u001b[2J',
  '日本',
  '\u202e',
  'x'.repeat(100_000),
  'A'.repeat(64),
  '{}',
  '`id`',
]
const oddText = fc.oneof(
  fc.constantFrom(...oddTexts),
  fc.string({ unit: 'binary', maxLength: 30 }).map((text) => text.toWellFormed()),
)
const mostly = (usual: string) =>
  fc.oneof({ weight: 40, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: oddText })
const uint32 = fc.oneof(
  { weight: 20, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.nat({ max: 0xffff_ffff }) },
)
const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  fc.constantFrom<unknown>(null, true, -1, 0.5, 1e21, -(2 ** 53), 2 ** 31, [], {}, [null], [[]], { key: {} }),
  fc.jsonValue({ maxDepth: 3 }),
)

/** A valid configuration with one of its values replaced, at any depth. */
const brokenConfig = fc
  .record({ config: arbitraryConfig(), path: fc.array(fc.nat(), { minLength: 1, maxLength: 5 }), value: oddValue })
  .map(({ config, path, value }) => {
    const json = structuredClone(config) as Record<string, unknown>
    let nodeEnvironment = json
    for (const [depth, step] of path.entries()) {
      const names = Object.keys(nodeEnvironment)
      const name = names[step % names.length]
      if (name === undefined) break
      const inner = nodeEnvironment[name]
      if (depth === path.length - 1 || typeof inner !== 'object' || inner === null) {
        nodeEnvironment[name] = value
        break
      }
      nodeEnvironment = inner as Record<string, unknown>
    }
    return JSON.stringify(json)
  })
const deep = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth)
const configJson = fc.oneof(
  { weight: 6, arbitrary: brokenConfig },
  { weight: 8, arbitrary: arbitraryConfig().map((config) => JSON.stringify(config)) },
  { weight: 2, arbitrary: oddValue.map((value) => JSON.stringify(value) ?? '') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      'null',
      '[]',
      '{"name"',
      deep(50_000, '[', ']'),
      `{"name":"web","environment":${deep(20_000, '[', ']')}}`,
      '{"__proto__":{"name":"web"}}',
      '{"name":"web","environment":[{"key":"__proto__","value":"x"}],"dockerLabels":[{"key":"__proto__","value":"x"}]}',
      '{"name":"web","ports":[{"internal":-1,"external":1e9}],"portRanges":[{"internal":{"from":0,"to":1e15},"external":{"from":0,"to":1e15}}]}',
      `{"name":"web","args":[${'{"key":"x"},'.repeat(50_000)}{"key":"x"}]}`,
    ),
  },
)

const instance = fc.record({
  instanceId: fc.oneof({ weight: 10, arbitrary: fc.uuid() }, { weight: 1, arbitrary: oddText }),
  imageName: mostly('registry.example.com/app'),
  imageTag: mostly('1'),
  imageDigest: mostly(''),
  localOnly: fc.boolean(),
  configJson,
  preparationDigests: fc.dictionary(
    oddText.map((text) => text.slice(0, 50)),
    oddText.map((text) => text.slice(0, 50)),
    { maxKeys: 2 },
  ),
  ...{
    storage: fc.option(fc.record({ url: mostly('https://s3.example.com'), accessKey: oddText, secretKey: oddText }), {
      nil: undefined,
    }),
  },
})
const release = fc.record({
  owner: fc.option(
    fc.record({ teamId: mostly('team'), projectId: mostly('project'), nodeId: mostly('node'), prefix: mostly('shop') }),
    { nil: undefined, freq: 40 },
  ),
  instances: fc.oneof(
    { weight: 20, arbitrary: fc.array(instance, { minLength: 1, maxLength: 2 }) },
    { weight: 1, arbitrary: fc.constant<never[]>([]) },
    { weight: 1, arbitrary: instance.map((one) => [one, one]) },
  ),
  previous: fc.array(fc.record({ containerName: oddText, instanceId: oddText }), { maxLength: 2 }),
  observationWindowMs: uint32,
  drainMs: uint32,
  recreate: fc.boolean(),
  partial: fc.boolean(),
  hostDangerousAllowed: fc.constantFrom(true, true, true, false),
  sharedSecrets: fc.dictionary(
    oddText.map((text) => text.slice(0, 50)),
    oddText,
    { maxKeys: 2 },
  ),
})

/** A release as it arrives over the wire. */
function onTheWire(init: MessageInitShape<typeof ReleaseSchema>): Release {
  return fromBinary(ReleaseSchema, toBinary(ReleaseSchema, create(ReleaseSchema, init)))
}

async function getOutcome(sent: Release): Promise<Outcome> {
  await releases.accept(sent)
  return waitUntil('the release ends', () => outcomes.get(`${sent.key?.deploymentId}/${sent.key?.number}`), 30_000)
}

/** An unexpected error is logged as such, even where it becomes a reason. */
const mistakes = () =>
  logged.filter((line) => line.includes('failed unexpectedly') || line.includes('ended unexpectedly'))

test(`the agent ends each of ${total} releases that no server sends with a message and continues to run`, async () => {
  let number = 0
  const reasons = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(release, async (init) => {
      number += 1
      const outcome = await getOutcome(onTheWire({ ...init, key: { deploymentId: 'fuzz', number } }))
      expect(outcome.successful).toBe(false)
      expect(outcome.reason).not.toBe('')
      expect(mistakes()).toEqual([])
      const kind = outcome.reason.replace(/[^a-z ]+.*$/i, '')
      reasons.set(kind, (reasons.get(kind) ?? 0) + 1)
    }),
    { numRuns: total, seed },
  )
  expect(unhandled).toEqual([])
  // Some releases must reach the engine, so that all code before it has read them.
  expect(reasons.get('this engine makes no containers')).toBeGreaterThan(total / 30)
  await waitUntil('no journal is left', async () => (await readdir(join(directory, 'journal'))).length === 0)
  expect(releases.openKeys()).toEqual([])
}, 600_000)

test('the agent refuses invalid release keys, which become names of files, and accepts the next release', async () => {
  for (const deploymentId of ['', '../x', 'a/b', '\u0000', '__proto__', 'x'.repeat(300), '日']) {
    const outcome = await getOutcome(onTheWire({ key: { deploymentId, number: 1 } }))
    expect(outcome).toMatchObject({ successful: false, previousRestored: false })
  }
  await expect(releases.accept(onTheWire({}))).resolves.toBeUndefined()
  const { reason } = await getOutcome(onTheWire({ key: { deploymentId: 'next', number: 1 } }))
  expect(reason).toBe('the release names no owner')
  expect(unhandled).toEqual([])
})

test('the agent refuses a release with 10,000 instances at once', async () => {
  const [config] = fc.sample(arbitraryConfig(), { numRuns: 1, seed })
  const instances = Array.from({ length: 10_000 }, (_, index) => ({
    instanceId: `i${index}`,
    imageName: 'app',
    imageTag: '1',
    configJson: JSON.stringify({ ...config, name: `i${index}` }),
  }))
  const owner = { teamId: 'team', projectId: 'project', nodeId: 'node', prefix: 'shop' }
  const { reason } = await getOutcome(onTheWire({ key: { deploymentId: 'many', number: 1 }, owner, instances }))
  expect(reason).toBe('a release has at most 1000 instances')
})
