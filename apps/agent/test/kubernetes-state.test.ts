import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { create } from '@bufbuild/protobuf'
import { LogLevel, ReleaseSchema } from '@crux/agent-protocol'
import { kubernetesMissing } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openStateObjects, type StateObjects } from '../src/engines/kubernetes/client/state-objects.ts'
import { openSecretLogs } from '../src/engines/kubernetes/state/secret-logs.ts'
import { openSecretRecords } from '../src/engines/kubernetes/state/secret-records.ts'
import type { StateAccess } from '../src/engines/kubernetes/state/state-access.ts'
import { type Journal, openJournals } from '../src/journal/journal.ts'
import { openNodeKey } from '../src/secrets/key.ts'
import { openTestCluster, type TestCluster } from './kit/cluster.ts'
import { startClusterAgent } from './kit/cluster-agent.ts'
import { getPath } from './kit/cluster-objects.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()
const never = () => new AbortController().signal
const toAccess = (objects: StateObjects, more: Partial<StateAccess> = {}): StateAccess => ({
  objects,
  signal: never(),
  lost: never(),
  ...more,
})
const toRelease = (deploymentId: string, more: object = {}) =>
  create(ReleaseSchema, { key: { deploymentId, number: 3 }, projectName: 'shop', ...more })
const append = (journal: Journal, text: string) =>
  journal.append({ case: 'log', value: { instanceId: '', level: LogLevel.INFO, lines: [text], fromContainer: false } })
const listTexts = (journal: Journal | undefined) =>
  journal?.eventsAfter(0, 1_000).flatMap(({ event }) => (event.case === 'log' ? event.value.lines : []))

let testCluster: TestCluster
const opened: { close(): void }[] = []
beforeAll(async () => {
  if (!missing) testCluster = await openTestCluster()
})
afterEach(() => {
  for (const one of opened.splice(0)) one.close()
})
afterAll(() => testCluster?.dispose())

async function openObjects(namespace: string, kubeconfig = testCluster.kubeconfig): Promise<StateObjects> {
  const objects = await openStateObjects({ kubeconfig, namespace })
  opened.push(objects)
  return objects
}
/** Journals in a namespace of their own, and the objects behind them. */
async function openJournalsOfTest(kubeconfig?: string) {
  const namespace = await testCluster.createNamespace()
  const objects = await openObjects(namespace, kubeconfig)
  return { namespace, objects, journals: openJournals(openSecretLogs(toAccess(objects))) }
}
const listSecrets = async (namespace: string) => (await testCluster.cluster.list('Secret', { namespace })).objects
/** Changes a Secret as another program would. */
const patchSecret = (namespace: string, name: string, body: unknown) =>
  testCluster.admin.json({
    method: 'PATCH',
    path: `/api/v1/namespaces/${namespace}/secrets/${name}`,
    contentType: 'application/merge-patch+json',
    body,
  })
const waiting = {
  commands: [{ key: '/bin/sh' }, { key: '-c' }],
  args: [{ key: "trap 'exit 0' TERM; while true; do sleep 0.1; done" }],
}
const getFirst = async (namespace: string) => {
  const [secret] = await listSecrets(namespace)
  if (!secret) throw new Error('there is no Secret')
  return secret
}

describe.skipIf(missing)('records in Secrets', () => {
  test('are read as they were written, by another process too', async () => {
    const namespace = await testCluster.createNamespace()
    const records = openSecretRecords(toAccess(await openObjects(namespace)))
    expect(await records.read('token.json')).toBeUndefined()
    await Promise.all([records.write('token.json', '{"ü":1}'), records.write('deleted-nodes.json', '{}')])
    const key = await openNodeKey(records)
    const others = openSecretRecords(toAccess(await openObjects(namespace)))
    expect(await others.read('token.json')).toBe('{"ü":1}')
    expect((await openNodeKey(others)).publicKey).toBe(key.publicKey)
    await records.remove('token.json')
    expect(await others.read('token.json')).toBeUndefined()
    expect(await others.read('deleted-nodes.json')).toBe('{}')
    expect((await listSecrets(namespace)).map(({ name }) => name)).toEqual(['crux-agent-state'])
  })

  test('include the install token, whose Secret is deleted with it', async () => {
    const namespace = await testCluster.createNamespace()
    await testCluster.cluster.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'crux-agent-install', namespace },
      stringData: { token: 'crux_install' },
    })
    const records = openSecretRecords(toAccess(await openObjects(namespace)))
    expect(await records.read('install-token')).toBe('crux_install')
    await records.remove('install-token')
    await records.remove('install-token')
    expect(await listSecrets(namespace)).toEqual([])
    expect(await records.read('install-token')).toBeUndefined()
  })

  test('that another program has changed meanwhile are not overwritten', async () => {
    const namespace = await testCluster.createNamespace()
    const first = openSecretRecords(toAccess(await openObjects(namespace)))
    await first.write('token.json', 'one')
    const second = openSecretRecords(toAccess(await openObjects(namespace)))
    expect(await second.read('token.json')).toBe('one')
    await second.write('token.json', 'two')
    await expect(first.write('token.json', 'three')).rejects.toThrow('Another program has changed token.json')
    expect(await first.read('token.json')).toBe('two')
    await first.write('token.json', 'three')
    expect(await second.read('token.json')).toBe('three')
  })

  test('are written once the API server answers again, and not at all after the turn of the process', async () => {
    const namespace = await testCluster.createNamespace()
    const proxy = await testCluster.openProxy()
    const lost = new AbortController()
    const objects = await openObjects(namespace, proxy.kubeconfig)
    const records = openSecretRecords(toAccess(objects, { lost: lost.signal }))
    await proxy.cut()
    const writing = records.write('token.json', 'one')
    await proxy.heal()
    await writing
    expect(await records.read('token.json')).toBe('one')
    lost.abort()
    await expect(records.write('token.json', 'two')).rejects.toThrow()
    expect(await records.read('token.json')).toBe('one')
    await proxy.cut()
  })
})

describe.skipIf(missing)('journals in Secrets', () => {
  test('give another process the order, the decisions and the events in sequence', async () => {
    const { journals, namespace } = await openJournalsOfTest()
    const release = toRelease('Dep_1', { sharedSecrets: { a: 'b' } })
    const journal = await journals.create(release)
    append(journal, 'one')
    await journal.decide({ digests: { i: 'sha256:1' } })
    append(journal, 'two')
    await journal.decide({ committed: true })
    await expect(journals.create(release)).rejects.toThrow(/the Secret \S+ exists already/)
    const others = openJournals(openSecretLogs(toAccess(await openObjects(namespace))))
    const { journals: found, unreadable } = await others.load()
    expect(unreadable).toEqual([])
    expect(found).toHaveLength(1)
    expect(found[0]?.release).toEqual(release)
    expect(found[0]?.state).toEqual({ digests: { i: 'sha256:1' }, committed: true })
    expect(listTexts(found[0])).toEqual(['one', 'two'])
    append(found[0] ?? journal, 'three')
    await found[0]?.secure()
    expect(listTexts((await others.load()).journals[0])).toEqual(['one', 'two', 'three'])
    await found[0]?.drop()
    expect(await listSecrets(namespace)).toEqual([])
  })

  test('continue in another Secret when one is full', async () => {
    const { journals, namespace } = await openJournalsOfTest()
    const journal = await journals.create(toRelease('long'))
    const texts = Array.from({ length: 6 }, () => randomBytes(90_000).toString('base64'))
    for (const text of texts) {
      append(journal, text)
      await journal.decide({ position: 'plan' })
    }
    expect((await listSecrets(namespace)).length).toBeGreaterThan(1)
    const [again] = (await journals.load()).journals
    expect(listTexts(again)).toEqual(texts)
    append(again ?? journal, 'after')
    await again?.written()
    expect(listTexts((await journals.load()).journals[0])).toEqual([...texts, 'after'])
    await again?.drop()
    expect(await listSecrets(namespace)).toEqual([])
  })

  test('hold a release that is almost as large as a Secret, and name one that is larger', async () => {
    const { journals, namespace } = await openJournalsOfTest()
    // Base64 has six bits in each of its bytes, so that it compresses to about three quarters.
    const toLarge = (id: string, bytes: number) => toRelease(id, { projectName: randomBytes(bytes).toString('base64') })
    const large = await journals.create(toLarge('large', 1_020_000))
    await large.decide({ committed: true })
    expect((await journals.load()).journals[0]?.state).toEqual({ committed: true })
    await large.drop()
    await expect(journals.create(toLarge('too-large', 1_060_000))).rejects.toThrow(
      /a record of the release too-large\.3 has 10\d\d KiB compressed, and a Secret of Kubernetes holds 1020 KiB: deploy fewer containers/,
    )
    expect(await listSecrets(namespace)).toEqual([])
  })

  test('lose nothing and repeat nothing when the API server is away in the middle of a write', async () => {
    const proxy = await testCluster.openProxy()
    const { journals } = await openJournalsOfTest(proxy.kubeconfig)
    const journal = await journals.create(toRelease('away'))
    const texts: string[] = []
    for (let round = 0; round < 12; round += 1) {
      texts.push(`text ${round}`)
      append(journal, `text ${round}`)
      // Cuts some writes before the API server has them, and some after it, before its answer has arrived.
      const deciding = journal.decide({ position: String(round) })
      for (let turn = 0; turn < 4 * (round % 4); turn += 1) await new Promise((resolve) => setImmediate(resolve))
      await proxy.cut()
      texts.push(`away ${round}`)
      append(journal, `away ${round}`)
      await proxy.heal()
      await deciding
    }
    await journal.written()
    const [again] = (await journals.load()).journals
    expect(listTexts(again)).toEqual(texts)
    expect(again?.state.position).toBe('11')
    await proxy.cut()
  })

  test('fail a decision when the process ends before the API server answers, and keep its lines for another attempt', async () => {
    const proxy = await testCluster.openProxy()
    const namespace = await testCluster.createNamespace()
    const ending = new AbortController()
    const access = toAccess(await openObjects(namespace, proxy.kubeconfig), { signal: ending.signal })
    const journals = openJournals(openSecretLogs(access))
    const journal = await journals.create(toRelease('ending'))
    await proxy.cut()
    const deciding = journal.decide({ committed: true })
    ending.abort(new Error('the process ends'))
    await expect(deciding).rejects.toThrow(/cannot write the journal ending\.3 to the cluster/)
    await proxy.heal()
    await journal.decide({ position: 'undo' })
    expect((await journals.load()).journals[0]?.state).toEqual({ committed: true, position: 'undo' })
    await proxy.cut()
  })

  test('go on when another program changes labels, and overwrite no content that it changed', async () => {
    const { journals, namespace } = await openJournalsOfTest()
    const journal = await journals.create(toRelease('shared'))
    const { fields, name } = await getFirst(namespace)
    await patchSecret(namespace, name, { metadata: { labels: { backup: 'yes' } } })
    await journal.decide({ position: 'plan' })
    expect((await getFirst(namespace)).labels.backup).toBe('yes')
    await patchSecret(namespace, name, { data: fields.data })
    await expect(journal.decide({ committed: true })).rejects.toThrow(/another program has changed the Secret/)
    expect((await getFirst(namespace)).fields.data).toEqual(fields.data)
    await patchSecret(namespace, name, { data: { lines: null } })
    await expect(journal.decide({ committed: true })).rejects.toThrow(/another program has changed the Secret/)
    await testCluster.cluster.delete({ kind: 'Secret', namespace, name })
    await expect(journal.decide({ committed: true })).rejects.toThrow(/another program has deleted the Secret/)
    expect(await listSecrets(namespace)).toEqual([])
  })

  test('that cannot be read are set aside, and block neither others nor another release with the key', async () => {
    const { journals, namespace } = await openJournalsOfTest()
    await journals.create(toRelease('broken'))
    const { name } = await getFirst(namespace)
    const contents = [Buffer.from('not gzip'), gzipSync('{"decision":{}}\n'), gzipSync('{"other":1}\n')]
    for (const lines of contents.map((content) => content.toString('base64'))) {
      await patchSecret(namespace, name, { data: { lines } })
      await journals.create(toRelease('whole'))
      const found = await journals.load()
      expect(found.unreadable).toEqual(['broken.3'])
      expect(found.journals.map(({ key }) => key.deploymentId)).toEqual(['whole'])
      expect((await journals.load()).unreadable).toEqual([])
      await found.journals[0]?.drop()
      await journals.create(toRelease('broken'))
    }
    expect((await listSecrets(namespace)).map((one) => one.labels['dev.crux.state']).sort()).toEqual([
      'journal',
      'unreadable',
    ])
  })

  test('without a segment count as unreadable', async () => {
    const { journals, namespace } = await openJournalsOfTest()
    const journal = await journals.create(toRelease('torn'))
    for (let index = 0; index < 4; index += 1) {
      append(journal, randomBytes(150_000).toString('base64'))
      await journal.written()
    }
    const [first] = (await listSecrets(namespace)).filter(({ labels }) => labels['dev.crux.segment'] === '0')
    await testCluster.cluster.delete({ kind: 'Secret', namespace, name: first?.name ?? '' })
    expect(await journals.load()).toEqual({ journals: [], unreadable: ['torn.3'] })
    await waitUntil('it is out of the way', async () => (await journals.load()).unreadable.length === 0)
  })
})

describe.skipIf(missing)('an agent with its state in Secrets', () => {
  test('deploys to no prefix that is its own namespace, whatever labels that has', async () => {
    const stateNamespace = await testCluster.createNamespace()
    const agent = await startClusterAgent({ stateNamespace })
    const secrets = async () => (await listSecrets(stateNamespace)).map(({ name }) => name)
    try {
      const { nodeId, teamId } = agent.owner
      const labels = { 'dev.crux.team': teamId, 'dev.crux.node': nodeId, 'dev.crux.prefix': stateNamespace }
      await testCluster.admin.json({
        method: 'PATCH',
        path: `/api/v1/namespaces/${stateNamespace}`,
        contentType: 'application/merge-patch+json',
        body: { metadata: { labels } },
      })
      const outcome = await agent.server.deployAndWait(
        agent.release({
          ...{ owner: { ...agent.owner, prefix: stateNamespace } },
          instances: [{ config: { name: 'web', environment: [{ key: 'A', value: 'b' }] } }],
        }),
      )
      expect(outcome).toMatchObject({
        successful: false,
        reason: `the prefix ${stateNamespace} is the namespace of the agent itself: choose another prefix`,
      })
      for (const kind of ['Deployment', 'Pod'] as const) expect(await agent.list(kind, stateNamespace)).toEqual([])
      await waitUntil('the journal is gone', async () => (await secrets()).length === 1)
      expect(await secrets()).toEqual(['crux-agent-state'])
    } finally {
      await agent.dispose()
    }
  })

  test('keeps its token and key when it is started again, and stores no file', async () => {
    const stateNamespace = await testCluster.createNamespace()
    const agent = await startClusterAgent({ stateNamespace })
    try {
      await agent.restartAgent()
      const { links } = agent.server
      expect(links).toHaveLength(2)
      expect(links[1]?.publicKey).toBe(links[0]?.publicKey)
      expect(await readdir(agent.dataDir)).toEqual([])
    } finally {
      await agent.dispose()
    }
  })

  test('sets a journal aside that it cannot read, and deploys', async () => {
    const stateNamespace = await testCluster.createNamespace()
    const { journals, namespace } = await openJournalsOfTest()
    await journals.create(toRelease('broken'))
    const { annotations, labels, name } = await getFirst(namespace)
    await testCluster.cluster.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: stateNamespace, annotations: { ...annotations }, labels: { ...labels } },
      stringData: { lines: 'not a journal' },
    })
    const agent = await startClusterAgent({ stateNamespace })
    try {
      const states = async () =>
        (await listSecrets(stateNamespace)).flatMap((one) => one.labels['dev.crux.state'] ?? [])
      expect(await states()).toEqual(['unreadable'])
      const release = agent.release({ instances: [{ config: { name: 'web', ...waiting } }] })
      expect(await agent.server.deployAndWait(release)).toMatchObject({ successful: true, reason: '' })
      await waitUntil('its journal is gone', async () => (await states()).length === 1)
    } finally {
      await agent.dispose()
    }
  })

  test('goes on with a release when the API server was away for a moment, and keeps its link', async () => {
    const proxy = await testCluster.openProxy()
    const stateNamespace = await testCluster.createNamespace()
    const agent = await startClusterAgent({ stateNamespace, kubeconfig: proxy.kubeconfig })
    try {
      const release = agent.release({ instances: [{ config: { name: 'web', ...waiting } }] })
      agent.server.deploy(release)
      await waitUntil('the pod exists', async () => (await agent.pods()).length === 1)
      await proxy.cut()
      await waitUntil(
        'the pod is available',
        async () => getPath((await agent.list('Deployment'))[0], 'status', 'availableReplicas') === 1,
      )
      await proxy.heal()
      expect(await agent.server.getOutcome(release)).toMatchObject({ successful: true, reason: '' })
      expect(agent.server.links).toHaveLength(1)
      await waitUntil('its journal is gone', async () => (await listSecrets(stateNamespace)).length === 1)
    } finally {
      await agent.dispose()
      await proxy.cut()
    }
  })
})
