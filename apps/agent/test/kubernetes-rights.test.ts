import { randomUUID } from 'node:crypto'
import { create } from '@bufbuild/protobuf'
import { Operation, type Release, ReleaseSchema } from '@crux/agent-protocol'
import { agentStateRights, clusterRights, deploymentRights, type KubernetesRight } from '@crux/rules'
import { kubernetesImage, kubernetesMissing } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Engine, PrefixTarget } from '../src/engines/engine.ts'
import { openCluster } from '../src/engines/kubernetes/client/open-cluster.ts'
import { openStateObjects } from '../src/engines/kubernetes/client/state-objects.ts'
import type { Cluster, Manifest } from '../src/engines/kubernetes/cluster/cluster.ts'
import { openKubernetesEngine } from '../src/engines/kubernetes/kubernetes-engine.ts'
import { findAgentImage } from '../src/engines/kubernetes/rollout/agent-image.ts'
import { openLeaseElection } from '../src/engines/kubernetes/state/lease-election.ts'
import { openSecretLogs } from '../src/engines/kubernetes/state/secret-logs.ts'
import { openSecretRecords } from '../src/engines/kubernetes/state/secret-records.ts'
import { getMessage } from '../src/errors.ts'
import { openJournals } from '../src/journal/journal.ts'
import { openTestCluster, silent, type TestCluster } from './kit/cluster.ts'
import { createAccount } from './kit/cluster-accounts.ts'
import { startClusterAgent } from './kit/cluster-agent.ts'
import { makeRelease } from './kit/releases.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()

interface Verb {
  resource: string
  verb: string
}
const listVerbs = (rights: readonly KubernetesRight[]): Verb[] =>
  rights.flatMap(({ resources, verbs }) => resources.flatMap((resource) => verbs.map((verb) => ({ resource, verb }))))

/** The rights without one verb on one resource. */
const without = (rights: readonly KubernetesRight[], { resource, verb }: Verb): KubernetesRight[] =>
  rights.flatMap((right) => {
    if (!right.resources.includes(resource)) return [right]
    const others = right.resources.filter((one) => one !== resource)
    return [
      ...(others.length > 0 ? [{ ...right, resources: others }] : []),
      { ...right, resources: [resource], verbs: right.verbs.filter((one) => one !== verb) },
    ].filter(({ verbs }) => verbs.length > 0)
  })

const never = () => new AbortController().signal
const shell = (script: string) => ({ commands: [{ key: '/bin/sh' }, { key: '-c' }], args: [{ key: script }] })
const wait = "trap 'exit 0' TERM; echo ready; while true; do sleep 0.1; done"

let testCluster: TestCluster
let accounts: string
beforeAll(async () => {
  if (missing) return
  testCluster = await openTestCluster()
  accounts = await testCluster.createNamespace()
})
afterAll(() => testCluster?.dispose())

/** Two releases, of which the second one replaces, adds and removes something of each kind. */
function toReleases(prefix: string): Release[] {
  const owner = { teamId: 'team-1', projectId: 'project-1', nodeId: 'node-1', prefix }
  const toInstance = (
    instanceId: string,
    config: Parameters<typeof makeRelease>[0]['instances'][number]['config'],
  ) => ({
    instanceId,
    image: kubernetesImage,
    localOnly: true,
    config,
  })
  const toRelease = (number: number) => {
    const isFirst = number === 1
    const secret = { key: 'PASSWORD', required: true, encrypted: true, value: `secret-${number}` }
    return makeRelease({
      owner,
      deploymentId: 'deployment-1',
      number,
      previous: isFirst
        ? []
        : ['web', 'job', 'old'].map((name) => ({ containerName: `${prefix}-${name}`, instanceId: name })),
      instances: [
        toInstance('web', {
          name: 'web',
          ...shell(wait),
          ports: [{ internal: 8080, external: isFirst ? 80 : 81 }],
          environment: [{ key: 'NUMBER', value: String(number) }],
          secrets: [secret],
          volumes: [{ name: 'data', path: '/data', type: 'rwx', size: '10Mi' }],
        }),
        toInstance('job', {
          name: 'job',
          ...shell(`exit ${number}`),
          expectedState: { state: 'exited', exitCode: number },
        }),
        ...(isFirst ? [toInstance('old', { name: 'old', ...shell(wait), ports: [{ internal: 1, external: 1 }] })] : []),
      ],
    })
  }
  return [toRelease(1), toRelease(2)]
}

/** Everything that an engine does for a node, and what each part says about a missing right. Ends with the first such sentence. */
async function useEngine(engine: Engine, prefix: string): Promise<string | undefined> {
  const journals = openJournals({
    create: () => Promise.reject(new Error('journals are in memory')),
    list: async () => [],
    open: () => Promise.reject(new Error('journals are in memory')),
    setAside: async () => undefined,
  })
  const said: string[] = []
  const findRefusal = () => said.find((text) => text.includes('no right to'))
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      said.push(getMessage(error))
      return undefined
    }
  }
  for (const release of toReleases(prefix)) {
    const journal = journals.unwritten(release)
    const control = { signal: never(), ending: never(), mayProceed: async () => undefined, tookOver: () => undefined }
    await attempt(() => engine.applyRelease(journal, control))
    for (const { event } of journal.eventsAfter(0, 1_000)) {
      if (event.case === 'log') said.push(...event.value.lines)
      if (event.case === 'outcome') said.push(event.value.reason)
    }
    if (findRefusal()) return findRefusal()
    expect(journal.outcome).toMatchObject({ successful: true, reason: '' })
  }
  const id = (await attempt(() => engine.find({ prefix, name: 'web' })))?.id ?? ''
  await attempt(() => engine.list({ prefix }))
  said.push((await attempt(() => engine.listMachines({ search: '', skip: 0, take: 1 })))?.missingRight ?? '')
  await attempt(() => engine.inspect(id))
  await attempt(async () => {
    for await (const lines of engine.readLog(id, { take: 10, follow: false })) expect(lines.length).toBeGreaterThan(0)
  })
  await attempt(() => engine.operate(id, Operation.RESTART))
  const owner = { teamId: 'team-1', projectId: 'project-1', nodeId: 'node-1', prefix, deletedNodeIds: [] }
  await attempt(() => engine.removeAllOf(owner))
  if (!findRefusal()) await deleteData(engine, { prefix, scope: owner }, { attempt, said })
  return findRefusal()
}

/** Reasons that the agent logs, where a page is shown without what it may not read. */
const toCollecting = (reasons: string[]): typeof silent =>
  Object.assign(Object.create(silent), {
    warn: (fields: { reason?: string }) => reasons.push(fields.reason ?? ''),
  })

/** The first attempt meets an object of somebody else, so that the namespace is unlocked again. */
async function deleteData(
  engine: Engine,
  target: PrefixTarget,
  { attempt, said }: { attempt: <T>(work: () => Promise<T>) => Promise<T | undefined>; said: string[] },
): Promise<void> {
  const foreign = { kind: 'ConfigMap', namespace: target.prefix, name: 'foreign' } as const
  const metadata = { name: foreign.name, namespace: foreign.namespace }
  await testCluster.cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata })
  const found = await attempt(() => engine.findPrefixData(target))
  const claims = found?.claims.flatMap(({ key }) => key ?? []) ?? []
  for (const isForeign of [true, false]) {
    const deleted = await attempt(() => engine.deletePrefixData(target, { claims, namespace: true }))
    said.push(...(deleted?.claims.map(({ reason }) => reason) ?? []), deleted?.namespace?.reason ?? '')
    if (isForeign) await testCluster.cluster.delete(foreign)
  }
}

async function useWith(rights: readonly KubernetesRight[]): Promise<string | undefined> {
  const prefix = testCluster.newNamespace()
  const { deleteRights, kubeconfig } = await createAccount(testCluster, accounts, { cluster: rights })
  const logged: string[] = []
  const engine = await openKubernetesEngine({
    kubeconfig,
    ownNamespace: accounts,
    namespaces: undefined,
    agentImage: undefined,
    authority: undefined,
    decrypt: async (message) => message,
    rootDomain: undefined,
    serverUrl: 'http://crux.example.com',
    records: { read: async () => undefined, write: async () => undefined, remove: async () => undefined },
    mayChange: () => true,
    log: toCollecting(logged),
    signal: never(),
  })
  if (!engine) throw new Error('the engine was not opened')
  try {
    return (await useEngine(engine, prefix)) ?? logged.find((reason) => reason.includes('no right to'))
  } finally {
    await engine.close()
    await deleteRights()
    await testCluster.cluster.delete({ kind: 'Namespace', namespace: '', name: prefix })
  }
}

/** A few at a time: each waits for pods. */
async function mapFew<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const rest = [...items.entries()]
  const run = async () => {
    for (let next = rest.shift(); next; next = rest.shift()) results[next[0]] = await work(next[1])
  }
  await Promise.all(Array.from({ length: 6 }, run))
  return results
}

/** Watches ingresses until one is created, which is done as soon as a watch may begin. */
async function watchChange(cluster: Cluster, namespace: string): Promise<void> {
  const ending = new AbortController()
  const manifest: Manifest = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: `watched-${randomUUID()}`, namespace },
    spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
  }
  for await (const { type } of cluster.watch('Ingress', { namespace }, ending.signal)) {
    if (type === 'relist') await testCluster.cluster.create(manifest)
    else ending.abort()
  }
}

const whole = [...deploymentRights, ...clusterRights]
/** The releases below have neither: they are tested by themselves. */
const withoutEngine = new Set(['ingresses', 'servicemonitors'])
const verbs = listVerbs(whole).filter(({ resource }) => !withoutEngine.has(resource))

describe.skipIf(missing)('the rights of the agent', () => {
  test('are enough for everything that it does', async () => {
    const { deleteRights, kubeconfig } = await createAccount(testCluster, accounts, {
      cluster: whole,
      namespaces: { [accounts]: agentStateRights },
    })
    const agent = await startClusterAgent({ kubeconfig, stateNamespace: accounts })
    try {
      const { prefix } = agent.owner
      const secrets = [{ key: 'PASSWORD', required: true, encrypted: true, value: await agent.seal('not-for-logs') }]
      const release = agent.release({ instances: [{ config: { name: 'web', ...shell(wait), secrets } }] })
      const streamId = randomUUID()
      agent.server.send({ case: 'watchContainers', value: { streamId } })
      expect(await agent.server.deployAndWait(release)).toMatchObject({ successful: true, reason: '' })
      await waitUntil('it is seen', () =>
        agent.server.containerUpdates.some(({ containers }) => containers.some(({ ref }) => ref?.prefix === prefix)),
      )
      const container = { prefix, name: 'web' }
      const log = await agent.server.ask({ case: 'readLog', value: { container, take: 10 } })
      expect(log.case === 'log' && log.value.lines.map(({ text }) => text)).toContain('ready')
      const operate = { container, operation: Operation.RESTART }
      expect(await agent.server.ask({ case: 'operateContainer', value: operate })).toMatchObject({ case: 'done' })
      expect(
        await agent.server.ask({
          case: 'deleteContainers',
          value: { container },
        }),
      ).toMatchObject({
        case: 'done',
      })
      expect(await agent.list('Deployment')).toEqual([])
      expect(await agent.list('Secret')).toEqual([])
    } finally {
      await agent.dispose()
      await deleteRights()
    }
  })

  test('have no verb without which everything works, and each that is missing is named', async () => {
    expect(verbs.length).toBeGreaterThan(30)
    expect(await useWith(whole)).toBeUndefined()
    const refusals = await mapFew(verbs, (verb) => useWith(without(whole, verb)))
    const unnamed = verbs.flatMap(({ resource, verb }, index) => {
      const said = refusals[index] ?? ''
      return said.includes(`no right to ${verb} ${resource} `) ? [] : [{ verb, resource, said }]
    })
    expect(unnamed).toEqual([])
  }, 400_000)

  test('to ingresses and metrics are each named when they are missing', async () => {
    const namespace = await testCluster.createNamespace()
    for (const [kind, resource, apiVersion] of [
      ['Ingress', 'ingresses', 'networking.k8s.io/v1'],
      ['ServiceMonitor', 'servicemonitors', 'monitoring.coreos.com/v1'],
    ] as const) {
      const ref = { kind, namespace, name: 'web' }
      const manifest: Manifest = { apiVersion, kind, metadata: { name: 'web', namespace }, spec: {} }
      const known = { uid: randomUUID(), resourceVersion: '1' }
      const calls: Record<string, (cluster: Cluster) => Promise<unknown>> = {
        get: (cluster) => cluster.get(ref),
        list: (cluster) => cluster.list(kind, { namespace }),
        create: (cluster) => cluster.create(manifest),
        patch: (cluster) => cluster.apply(manifest, known),
        delete: (cluster) => cluster.delete(ref),
        ...(kind === 'Ingress' && { watch: (cluster: Cluster) => watchChange(cluster, namespace) }),
      }
      const listed = listVerbs(deploymentRights).filter((one) => one.resource === resource)
      expect(listed.map(({ verb }) => verb).sort()).toEqual(Object.keys(calls).sort())
      const open = async (rights: readonly KubernetesRight[]) => {
        const { kubeconfig } = await createAccount(testCluster, namespace, { namespaces: { [namespace]: rights } })
        return openCluster({ kubeconfig, log: silent })
      }
      const granted = await open(deploymentRights)
      for (const { resource: of, verb } of listed) {
        const reduced = await open(without(deploymentRights, { resource: of, verb }))
        const call = calls[verb] ?? (() => Promise.resolve())
        await expect(call(reduced)).rejects.toThrow(`no right to ${verb} ${resource} in the namespace ${namespace}`)
        expect(await call(granted).then(() => '', getMessage)).not.toContain('no right')
        reduced.close()
      }
      granted.close()
    }
  })

  test('in its own namespace are each needed, and named when they are missing', async () => {
    const useState = async (rights: readonly KubernetesRight[]): Promise<string> => {
      const namespace = await testCluster.createNamespace()
      const { kubeconfig } = await createAccount(testCluster, namespace, { namespaces: { [namespace]: rights } })
      const objects = await openStateObjects({ kubeconfig, namespace })
      const access = { objects, signal: never(), lost: never() }
      const cluster = await openCluster({ kubeconfig, log: silent })
      const containers = [{ name: 'agent', image: 'agent:1' }]
      const pod = { metadata: { name: 'agent-pod' }, spec: { containers } }
      await testCluster.admin.json({ method: 'POST', path: `/api/v1/namespaces/${namespace}/pods`, body: pod })
      try {
        const leadership = await openLeaseElection(objects, silent).acquire(never())
        await leadership?.release()
        await (await openLeaseElection(objects, silent).acquire(never()))?.release()
        const records = openSecretRecords(access)
        expect(await records.read('token.json')).toBeUndefined()
        await records.write('token.json', 'one')
        const journals = openJournals(openSecretLogs(access))
        const key = { deploymentId: 'deployment-1', number: 1 }
        const journal = await journals.create(create(ReleaseSchema, { key }))
        await journal.decide({ committed: true })
        expect((await journals.load()).journals).toHaveLength(1)
        await journal.drop()
        await findAgentImage(cluster, { image: undefined, namespace, pod: 'agent-pod' }, never())
        return ''
      } catch (error) {
        return getMessage(error)
      } finally {
        objects.close()
        cluster.close()
      }
    }
    expect(await useState(agentStateRights)).toBe('')
    for (const { resource, verb } of listVerbs(agentStateRights))
      expect(await useState(without(agentStateRights, { resource, verb }))).toContain(
        `no right to ${verb} ${resource} in the namespace`,
      )
  })

  test('give no way to list or watch secrets outside of its own namespace', () => {
    expect(
      listVerbs(whole).filter(({ resource, verb }) => resource === 'secrets' && ['list', 'watch'].includes(verb)),
    ).toEqual([])
  })
})
