import { execFileSync } from 'node:child_process'
import { EngineKind } from '@crux/agent-protocol'
import type { ContainerConfigFields, NodeCluster } from '@crux/contract'
import { clusterRights, deploymentRights } from '@crux/rules'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import { connectClusterAgent, ScriptedAgent } from '../../test/scripted-agent.ts'

let crux: TestServer
let testEnvironment: DeployTestEnvironment
beforeAll(async () => {
  crux = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(crux)
})
afterAll(() => crux.stop())

let serial = 0
const makeNode = (cluster?: NodeCluster) =>
  testEnvironment.client.call('nodes.create', {
    params: testEnvironment.params,
    body: { name: `cluster ${++serial}`, ...(cluster && { cluster }) },
  })
const makeScript = (nodeId: string, body: Record<string, unknown> = {}) =>
  testEnvironment.client.call('nodes.create-script', {
    params: { ...testEnvironment.params, nodeId },
    body: { type: 'k8s', scriptType: 'shell', ...body },
  })
const getNode = (nodeId: string) =>
  testEnvironment.client.call('nodes.get', { params: { ...testEnvironment.params, nodeId } })
const getToken = (text: string) => /(crux_[\w-]+)/.exec(text)?.[1] ?? ''

type Parsed = {
  kind: string
  metadata: { name: string; namespace?: string }
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[] }[]
  stringData?: Record<string, string>
  /** Of the Deployment. */
  spec?: { template: { spec: Record<string, unknown> } }
}
const parse = (yaml: string) => parseAllDocuments(yaml).map((document) => document.toJS() as Parsed)
const ofKind = (objects: readonly Parsed[], kind: string) => objects.filter((object) => object.kind === kind)

const agentAt = (node: { id: string }, token: string, engine: EngineKind) =>
  new ScriptedAgent({
    url: crux.url,
    nodeId: node.id,
    token,
    info: { engine, engineVersion: 'Kubernetes 1.34.0', publicKey: `key of ${node.id}` },
  })

test('the manifest of an agent has its rights and nothing more, and a pod without access to its machine', async () => {
  const node = await makeNode()
  const { command, manifest, script } = await makeScript(node.id)
  expect(await getNode(node.id)).toMatchObject({ type: 'k8s', install: { type: 'k8s', command } })
  const objects = parse(manifest?.yaml ?? '')
  const token = getToken(command)

  const [role] = ofKind(objects, 'ClusterRole')
  expect(role?.rules).toEqual(
    [...clusterRights, ...deploymentRights].map(({ apiGroup, resources, verbs }) => ({
      apiGroups: [apiGroup],
      resources,
      verbs,
    })),
  )
  const onSecrets = (role?.rules ?? []).filter(({ resources }) => resources.includes('secrets'))
  expect(onSecrets).toHaveLength(1)
  expect(onSecrets[0]?.verbs).not.toContain('list')
  expect(onSecrets[0]?.verbs).not.toContain('watch')
  const all = (role?.rules ?? []).flatMap((rule) => [...rule.apiGroups, ...rule.resources, ...rule.verbs])
  expect(all).not.toContain('*')

  const [secret] = ofKind(objects, 'Secret')
  expect(secret).toMatchObject({ metadata: { name: 'crux-agent-install' }, stringData: { token } })
  expect(JSON.stringify(objects.filter(({ kind }) => kind !== 'Secret'))).not.toContain(token)

  const [deployment] = ofKind(objects, 'Deployment')
  const pod = deployment?.spec?.template.spec
  expect(pod).toMatchObject({
    serviceAccountName: 'crux-agent',
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        image: manifest?.image,
        imagePullPolicy: 'Never',
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
      },
    ],
  })
  expect(pod).not.toHaveProperty('hostNetwork')
  expect(JSON.stringify(pod)).not.toContain('hostPath')

  // Each node has a namespace of its own, so that two agents on one cluster share nothing.
  const other = await makeScript((await makeNode()).id)
  expect(other.manifest?.namespace).not.toBe(manifest?.namespace)
  const names = (yaml = '') =>
    parse(yaml).flatMap(({ kind, metadata }) => (metadata.namespace ? [] : [kind + metadata.name]))
  expect(names(other.manifest?.yaml).filter((name) => names(manifest?.yaml).includes(name))).toEqual([])

  // The script is POSIX sh, and is the same when it is downloaded with its token.
  execFileSync('sh', ['-n'], { input: script })
  const answer = await crux.request(`/api/${testEnvironment.team.slug}/nodes/${node.id}/script`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(await answer.text()).toBe(script)
})

test('an agent that is limited to namespaces has roles in them, and no right in the whole cluster', async () => {
  const node = await makeNode()
  const { manifest } = await makeScript(node.id, { namespaces: ['shop', 'blog'], workloadName: 'my-agent' })
  const objects = parse(manifest?.yaml ?? '')
  expect(manifest?.namespace).toBe('my-agent')
  expect(objects.filter(({ kind }) => kind.startsWith('ClusterRole'))).toEqual([])
  expect(ofKind(objects, 'Role').map(({ metadata }) => metadata.namespace)).toEqual(['my-agent', 'shop', 'blog'])
  expect(JSON.stringify(ofKind(objects, 'Deployment'))).toContain('{"name":"CRUX_NAMESPACES","value":"shop,blog"}')
})

test('what a cluster cannot run is refused by field before a script is made', async () => {
  const node = await makeNode()
  const refusals: [Record<string, unknown>, string][] = [
    [{ scriptType: 'powershell' }, 'scriptType'],
    [{ workloadName: 'My_Agent' }, 'workloadName'],
    [{ workloadName: 'kube-agent' }, 'workloadName'],
    [{ namespaces: ['kube-system'] }, 'namespaces.0'],
    [{ namespaces: ["a'b"] }, 'namespaces.0'],
  ]
  for (const [body, property] of refusals)
    await expect(makeScript(node.id, body), property).rejects.toMatchObject({
      status: 400,
      property: expect.stringContaining(property.split('.')[0] ?? ''),
    })
  expect(await getNode(node.id)).toMatchObject({ type: 'docker', install: null })
})

test('a node keeps its engine while deployments or environments are on it', async () => {
  const node = await makeNode()
  await testEnvironment.deployment(await testEnvironment.version(), node.id)
  await expect(makeScript(node.id)).rejects.toMatchObject({ status: 412, property: 'type' })
  expect(await getNode(node.id)).toMatchObject({ type: 'docker' })
  const { agent, node: cluster } = await makeDeployment()
  agent.cut()
  await expect(
    testEnvironment.client.call('nodes.start-local-agent', {
      params: { ...testEnvironment.params, nodeId: cluster.id },
    }),
  ).rejects.toMatchObject({ status: 412, property: 'type' })
})

test('an agent of another engine is refused with the reason, and its install token stays valid', async () => {
  const node = await makeNode()
  const token = getToken((await makeScript(node.id)).command)
  const docker = agentAt(node, token, EngineKind.DOCKER)
  await expect(docker.exchange()).rejects.toThrow(/this node is for Kubernetes, and this agent serves Docker/)
  docker.cut()

  const agent = agentAt(node, token, EngineKind.KUBERNETES)
  const connection = await agent.exchange()
  await agent.connect()
  expect(await getNode(node.id)).toMatchObject({
    status: 'connected',
    engineVersion: 'Kubernetes 1.34.0',
    updatable: false,
  })

  // The token does not help an agent of another engine either.
  const stolen = agentAt(node, connection, EngineKind.DOCKER)
  await expect(stolen.connect()).rejects.toThrow(/this agent serves Docker/)
  stolen.cut()
  agent.cut()
})

const settings: NodeCluster = {
  ingressClass: 'nginx',
  certificateIssuer: null,
  storageClasses: ['fast'],
  allowForeignNamespaces: ['legacy'],
  drainSeconds: 5,
}

/** A connected node of type k8s with these settings, and a deployment of one container. */
async function makeDeployment(config: ContainerConfigFields = {}, cluster?: NodeCluster) {
  const node = await testEnvironment.node()
  const agent = await connectClusterAgent(crux, node, cluster)
  const version = await testEnvironment.version({ images: [{ name: 'web', config }] })
  const { id } = await testEnvironment.deployment(version, node.id)
  return { node, agent, version, id }
}

test("a release carries the settings of its node's cluster", async () => {
  for (const cluster of [settings, undefined]) {
    const { agent, id } = await makeDeployment({}, cluster)
    await testEnvironment.start(id)
    const release = (await agent.command('deploy')).value
    expect(release.cluster).toMatchObject({
      ingressClass: cluster?.ingressClass ?? '',
      certificateIssuer: '',
      storageClasses: cluster?.storageClasses ?? [],
      foreignNamespaces: cluster?.allowForeignNamespaces ?? [],
    })
    expect(release.cluster?.drainSeconds).toBe(cluster?.drainSeconds)
    agent.cut()
  }
})

test('what reaches the cluster needs an admin, and what the node offers does not', async () => {
  const user = crux.client(await crux.addMember(testEnvironment.team, 'user'))
  const volume = (storageClass: string): ContainerConfigFields => ({
    volumes: [{ name: 'data', path: '/data', type: 'rwo', class: storageClass }],
  })
  const start = (id: string) =>
    user.call('deployments.start', { params: { ...testEnvironment.params, deploymentId: id }, query: {}, body: {} })
  const refused: [ContainerConfigFields, string][] = [
    [volume('gold'), 'volumes[0].class'],
    [{ useLoadBalancer: true }, 'useLoadBalancer'],
    [
      { annotations: { ingress: [{ key: 'nginx.ingress.kubernetes.io/server-snippet', value: 'x' }] } },
      'annotations.ingress[0].key',
    ],
  ]
  for (const [config, property] of refused) {
    const { agent, id } = await makeDeployment(config, settings)
    await expect(start(id), property).rejects.toMatchObject({
      status: 403,
      property: `instances[0].config.${property}`,
    })
    // An admin may.
    await testEnvironment.start(id)
    expect((await agent.command('deploy')).value).toMatchObject({ hostDangerousAllowed: true })
    agent.cut()
  }
  const { agent, id } = await makeDeployment(volume('fast'), settings)
  await start(id)
  expect((await agent.command('deploy')).value).toMatchObject({ hostDangerousAllowed: false })
  agent.cut()
})

test('what a cluster cannot run is refused by the start and shown by the preview', async () => {
  const exposed: ContainerConfigFields = {
    expose: 'expose',
    routing: { domain: 'shop.example.com' },
    ports: [{ internal: 80, external: 80 }],
  }
  const refused: [ContainerConfigFields, NodeCluster | undefined, string][] = [
    [exposed, undefined, 'expose'],
    [{ ...exposed, proxyHeaders: true }, { ...settings, ingressClass: 'traefik' }, 'proxyHeaders'],
    [{ replicas: 2, volumes: [{ name: 'data', path: '/data' }] }, settings, 'replicas'],
    [{ expectedState: { state: 'waiting' } }, settings, 'expectedState.state'],
  ]
  for (const [config, cluster, property] of refused) {
    const { agent, id } = await makeDeployment(config, cluster)
    const problem = { property: `instances[0].config.${property}` }
    await expect(testEnvironment.start(id), property).rejects.toMatchObject({ status: 400, ...problem })
    const { problems } = await testEnvironment.client.call('deployments.preview', {
      params: { ...testEnvironment.params, deploymentId: id },
    })
    expect(problems).toEqual([expect.objectContaining(problem)])
    agent.cut()
  }
  // Two containers may have one port: each has a service of its own.
  const { agent, id } = await makeDeployment(exposed, settings)
  await testEnvironment.start(id)
  expect((await agent.command('deploy')).value.instances).toHaveLength(1)
  agent.cut()
})

test('the preview says of a cluster what happens there: no closed ports, pauses only where one pod may run, and claims', async () => {
  const first: ContainerConfigFields = {
    ports: [{ internal: 80, external: 80 }],
    volumes: [{ name: 'data', path: '/data', type: 'rwx' }],
  }
  const { agent, id, version } = await makeDeployment(first)
  await testEnvironment.start(id)
  await deployWell(agent, 1)
  await testEnvironment.waitForStatus(id, 'successful')
  const preview = async (config: ContainerConfigFields) => {
    const params = {
      ...testEnvironment.params,
      projectId: version.projectId,
      versionId: version.versionId,
      imageId: version.imageIds[0] ?? '',
    }
    await testEnvironment.client.call('images.update', { params, body: { config } })
    const { instances } = await testEnvironment.client.call('deployments.preview', {
      params: { ...testEnvironment.params, deploymentId: id },
    })
    return instances[0]
  }
  expect(await preview({ replicas: 2 })).toMatchObject({ action: 'replace', reason: null, silentPorts: [] })
  expect(await preview({ deploymentStrategy: 'recreate' })).toMatchObject({
    action: 'replace-with-pause',
    reason: 'Its strategy is Recreate: the previous pods stop before the new ones start',
    silentPorts: [],
  })
  const moved = await preview({ deploymentStrategy: null, volumes: [{ name: 'files', path: '/data' }] })
  expect(moved).toMatchObject({
    action: 'replace-with-pause',
    reason: 'Only one pod at a time may write to the volume files',
  })
  expect(moved?.warnings?.map(({ description }) => description).join(' ')).toContain(
    'its data stays in the claim web-data of the namespace',
  )
  agent.cut()
})

test('an image that is run on a cluster gets the port of the image for its service, whatever others have', async () => {
  const { agent, node } = await makeDeployment({ ports: [{ internal: 80, external: 80 }] })
  const { ports } = await testEnvironment.client.call('nodes.run-proposal', {
    params: { ...testEnvironment.params, nodeId: node.id },
    query: { image: 'docker.io/library/nginx:1', ports: '80' },
  })
  expect(ports).toEqual([{ internal: 80, external: 80, protocol: 'tcp' }])
  agent.cut()
})

test("the cluster's own namespaces are no prefixes", async () => {
  const { agent, id, node, version } = await makeDeployment()
  for (const prefix of ['default', 'kube-system'])
    await expect(testEnvironment.deployment(version, node.id, prefix)).rejects.toMatchObject({
      status: 400,
      property: 'prefix',
    })
  await expect(
    testEnvironment.client.call('deployments.update', {
      params: { ...testEnvironment.params, deploymentId: id },
      body: { prefix: 'default', protected: false },
    }),
  ).rejects.toMatchObject({ status: 400, property: 'prefix' })
  agent.cut()
})

test('the settings of a cluster are changed by admins only, and an edit without them keeps them', async () => {
  const node = await makeNode(settings)
  const params = { ...testEnvironment.params, nodeId: node.id }
  const user = crux.client(await crux.addMember(testEnvironment.team, 'user'))
  await expect(
    user.call('nodes.update', {
      params,
      body: { name: node.name, cluster: { ...settings, storageClasses: ['gold'] } },
    }),
  ).rejects.toMatchObject({ status: 403 })
  await testEnvironment.client.call('nodes.update', { params, body: { name: 'renamed' } })
  expect(await getNode(node.id)).toMatchObject({ name: 'renamed', cluster: settings })
  const changed = { ...settings, ingressClass: null }
  await testEnvironment.client.call('nodes.update', { params, body: { name: 'renamed', cluster: changed } })
  expect(await getNode(node.id)).toMatchObject({ cluster: changed })
  await expect(
    testEnvironment.client.call('nodes.update', {
      params,
      body: { name: 'renamed', cluster: { ...settings, allowForeignNamespaces: ['kube-system'] } },
    }),
  ).rejects.toMatchObject({ status: 400 })
})
