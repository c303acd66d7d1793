import { randomUUID } from 'node:crypto'
import { agentLabels } from '@crux/rules'
import { kubernetesMissing } from '@crux/test-kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Manifest } from '../src/engines/kubernetes/cluster/cluster.ts'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { ports, serve } from './kit/cluster-scripts.ts'

const missing = kubernetesMissing()

const toForeignObjects = (namespace: string): Manifest[] => [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace },
    spec: { ports: [{ port: 1, name: 'p' }], selector: { foreign: 'yes' } },
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'web', namespace },
    spec: { rules: [{ host: `${randomUUID()}.example.com` }] },
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'web-data', namespace },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
  },
]

describe.skipIf(missing)('a namespace that somebody else made', () => {
  let agent: ClusterAgent
  let namespace: string
  beforeEach(async () => {
    agent = await startClusterAgent()
    namespace = await agent.createNamespace()
  })
  afterEach(() => agent.dispose())

  const toRelease = (from: ClusterAgent, config: object = {}, foreignNamespaces: readonly string[] = [namespace]) =>
    from.release({
      owner: { ...from.owner, prefix: namespace },
      cluster: { ingressClass: 'nginx', foreignNamespaces: [...foreignNamespaces] },
      instances: [{ config: { name: 'web', ...serve('one'), ports, ...config } }],
    })
  const deploy = (...given: Parameters<typeof toRelease>) => given[0].server.deployAndWait(toRelease(...given))

  test('is used only where an admin lists it', async () => {
    expect((await deploy(agent, {}, ['another'])).reason).toBe(
      `the namespace ${namespace} exists and is not of this node: choose another prefix`,
    )
    expect(await agent.list('Deployment', namespace)).toEqual([])
    const before = await agent.cluster.get({ kind: 'Namespace', namespace: '', name: namespace })
    expect(await deploy(agent)).toMatchObject({ successful: true, reason: '' })
    const after = await agent.cluster.get({ kind: 'Namespace', namespace: '', name: namespace })
    expect(after?.labels).toEqual(before?.labels)
  })

  test('is not used when it is that of an agent, also where an admin lists it', async () => {
    const own = await agent.createNamespace(() => agentLabels)
    const owner = { ...agent.owner, prefix: own }
    const release = agent.release({
      owner,
      cluster: { ingressClass: 'nginx', foreignNamespaces: [own] },
      instances: [{ config: { name: 'web', ...serve('one'), ports } }],
    })
    expect((await agent.server.deployAndWait(release)).reason).toBe(
      `the namespace ${own} is that of an agent: choose another prefix`,
    )
    expect(await agent.list('Deployment', own)).toEqual([])
  })

  test('belongs to the node that deployed to it first: another team is refused, without a name of the first', async () => {
    expect(await deploy(agent)).toMatchObject({ successful: true, reason: '' })
    const other = await startClusterAgent()
    try {
      const { reason } = await deploy(other)
      expect(reason).toBe(`the namespace ${namespace} exists and is not of this node: choose another prefix`)
      expect(reason).not.toContain(agent.owner.teamId)
      expect((await agent.list('Deployment', namespace)).map(({ labels }) => labels['dev.crux.team'])).toEqual([
        agent.owner.teamId,
      ])
    } finally {
      await other.dispose()
    }
  })

  test('gets no labels of members on pods: a Service of others there could select them', async () => {
    await agent.cluster.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'shop', namespace },
      spec: { ports: [{ port: 80 }], selector: { app: 'shop' } },
    })
    const rows = [{ key: 'app', value: 'shop' }]
    expect(await deploy(agent, { labels: { deployment: rows } })).toMatchObject({
      successful: false,
      reason: `labels.deployment: the namespace ${namespace} was not made by Crux, and Services and network policies of others in it could select the pods by the label app: remove these labels, or choose another prefix`,
    })
    expect(await agent.list('Deployment', namespace)).toEqual([])
    const allowed = { labels: { deployment: [{ key: 'app', value: null }], service: rows, ingress: rows } }
    expect(await deploy(agent, allowed)).toMatchObject({ successful: true, reason: '' })
    expect((await agent.list('Pod', namespace)).map(({ labels }) => labels.app)).toEqual([undefined])
    // Listed, but made by Crux.
    const own = agent.newNamespace()
    const release = agent.release({
      owner: { ...agent.owner, prefix: own },
      cluster: { foreignNamespaces: [own] },
      instances: [{ config: { name: 'web', ...serve('one'), labels: { deployment: rows } } }],
    })
    expect(await agent.server.deployAndWait(release)).toMatchObject({ successful: true, reason: '' })
    expect((await agent.list('Pod', own)).map(({ labels }) => labels.app)).toEqual(['shop'])
  })

  test('of another team stays refused, also where it is listed', async () => {
    const taken = await agent.createNamespace((name) => ({
      'dev.crux.team': randomUUID(),
      'dev.crux.node': randomUUID(),
      'dev.crux.prefix': name,
    }))
    const outcome = await agent.server.deployAndWait(
      agent.release({
        owner: { ...agent.owner, prefix: taken },
        cluster: { foreignNamespaces: [taken] },
        instances: [{ config: { name: 'web', ...serve('one') } }],
      }),
    )
    expect(outcome.reason).toBe(`the namespace ${taken} exists and is not of this node: choose another prefix`)
    expect(await agent.list('Deployment', taken)).toEqual([])
  })

  test('keeps its objects: one of the same name is named, and neither changed nor deleted', async () => {
    const volumes = [{ name: 'data', path: '/data' }]
    for (const manifest of toForeignObjects(namespace)) {
      const { kind, metadata } = manifest
      const made = await agent.cluster.create(manifest)
      const { reason } = await deploy(agent, { volumes, expose: 'expose', routing: { domain: 'x.example.com' } })
      expect(reason).toBe(
        `the namespace ${namespace} has a ${kind} named ${metadata.name} that is not of this deployment: choose another name for the container, or delete the ${kind}`,
      )
      expect((await agent.cluster.get({ kind, namespace, name: metadata.name }))?.uid).toBe(made.uid)
      expect(await agent.list('Deployment', namespace)).toEqual([])
      await agent.cluster.delete({ kind, namespace, name: metadata.name })
    }
  })
})

describe.skipIf(missing)('a prefix of a cluster', () => {
  test('belongs to one team: the node of another one is refused, without a name of the first', async () => {
    const first = await startClusterAgent()
    const second = await startClusterAgent({ prefix: first.owner.prefix })
    try {
      const deploy = ({ release, server }: ClusterAgent) =>
        server.deployAndWait(release({ instances: [{ config: { name: 'web', ...serve('one'), ports } }] }))
      expect(await deploy(first)).toMatchObject({ successful: true })
      const { reason } = await deploy(second)
      expect(reason).toBe(`the namespace ${first.owner.prefix} exists and is not of this node: choose another prefix`)
      expect((await first.list('Deployment')).map(({ labels }) => labels['dev.crux.team'])).toEqual([
        first.owner.teamId,
      ])
    } finally {
      await second.dispose()
      await first.dispose()
    }
  })
})
