import { randomUUID } from 'node:crypto'
import { LogLevel, type Release } from '@crux/agent-protocol'
import { kubernetesMissing } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ClusterObject, ObjectKind } from '../src/engines/kubernetes/cluster/cluster.ts'
import { listIngressRoutes } from '../src/engines/kubernetes/plan/ingress-routes.ts'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { getPath } from './kit/cluster-objects.ts'
import { ports, serve, shell } from './kit/cluster-scripts.ts'
import { createReleaseSequence, type ReleaseSequence } from './kit/release-sequence.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()
const rootDomain = 'apps.example.com'
const settings = { ingressClass: 'nginx', certificateIssuer: 'letsencrypt' }
const getHosts = (ingress: ClusterObject | undefined) => listIngressRoutes(ingress?.fields.spec).map(({ host }) => host)
const exposed = { ...serve('one'), ports, expose: 'expose' } as const

describe.skipIf(missing)('routes and metrics on Kubernetes', () => {
  let agent: ClusterAgent
  let instanceId: string
  let toRelease: ReleaseSequence['toRelease']
  let deploy: ReleaseSequence['deploy']
  let deploySuccessfully: ReleaseSequence['deploySuccessfully']
  beforeEach(async () => {
    agent = await startClusterAgent({ rootDomain })
    ;({ instanceId, toRelease, deploy, deploySuccessfully } = createReleaseSequence(agent, {
      release: { cluster: settings },
    }))
  })
  afterEach(() => agent.dispose())
  const names = async (kind: ObjectKind) => (await agent.list(kind)).map(({ name }) => name)
  const warnings = ({ key }: Release) =>
    (key ? agent.server.listEvents(key) : []).flatMap(({ event }) =>
      event.case === 'log' && event.value.level === LogLevel.WARN ? event.value.lines : [],
    )

  test('follow the settings of the node and of the agent, and go away with the exposure', async () => {
    await deploySuccessfully({ ...exposed, expose: 'exposeWithTls' })
    const ingress = await agent.get('Ingress', 'web')
    expect(ingress?.annotations).toMatchObject({ 'cert-manager.io/cluster-issuer': 'letsencrypt' })
    expect(ingress?.fields.spec).toMatchObject({
      ingressClassName: 'nginx',
      rules: [{ host: `web.${agent.owner.prefix}.${rootDomain}` }],
      tls: [{ secretName: 'web-tls' }],
    })
    await deploySuccessfully({ ...exposed, expose: 'none' })
    expect(await names('Ingress')).toEqual([])
    expect(await names('Service')).toEqual(['web'])
  })

  test('are put back by a release that fails, to exactly what they were', async () => {
    await deploySuccessfully({ ...exposed, routing: { domain: 'one.example.com' } })
    const before = await agent.get('Ingress', 'web')
    await agent.setQuota({ 'count/ingresses.networking.k8s.io': '1' })
    const routing = { domain: 'one.example.com,two.example.com' }
    const web = { instanceId, config: { name: 'web', ...exposed, ...serve('two'), routing } }
    const other = { config: { name: 'new', ...exposed } }
    const release = toRelease({}, { instances: [web, other] })
    agent.server.deploy(release)
    await waitUntil('the new routes are there', async () => getHosts(await agent.get('Ingress', 'web')).length === 2)
    const outcome = await agent.server.getOutcome(release)
    expect(outcome).toMatchObject({ successful: false, previousRestored: true })
    expect(outcome.reason).toContain('exceeded quota')
    const after = await agent.get('Ingress', 'web')
    expect(after?.fields.spec).toEqual(before?.fields.spec)
    expect(after?.labels).toEqual(before?.labels)
    expect(await names('Ingress')).toEqual(['web'])
    expect(await names('Service')).toEqual(['web'])
  })

  test('end with their container', async () => {
    const old = { instanceId: randomUUID(), config: { name: 'old', ...exposed } }
    const web = { instanceId, config: { name: 'web', ...exposed } }
    await deploySuccessfully({}, { instances: [web, old] })
    expect((await names('Ingress')).sort()).toEqual(['old', 'web'])
    const previous = [web, old].map((one) => ({
      containerName: `${agent.owner.prefix}-${one.config.name}`,
      instanceId: one.instanceId,
    }))
    await deploySuccessfully({}, { instances: [web], previous })
    expect(await names('Ingress')).toEqual(['web'])
  })

  test('of an earlier version end with it, though its instances have other ids', async () => {
    const routing = { domain: `${randomUUID()}.example.com` }
    await deploySuccessfully({ ...exposed, routing })
    const next = (config: object) => ({ instances: [{ instanceId: randomUUID(), config: { name: 'web', ...config } }] })
    await deploySuccessfully({}, { ...next({ ...exposed, ...serve('two'), routing }), partial: true })
    expect(await names('Ingress')).toEqual(['web'])
    await deploySuccessfully({}, next({ ...exposed, expose: 'none' }))
    expect(await names('Ingress')).toEqual([])
  })

  test('need an ingress class of the node', async () => {
    expect((await deploy(exposed, { cluster: {} })).reason).toMatch(/^expose: The node has no ingress class/)
    expect(await names('Deployment')).toEqual([])
  })

  test('are refused for a host of Crux itself, before anything is changed', async () => {
    const { hostname } = new URL(agent.server.url)
    const { reason } = await deploy({ ...exposed, routing: { domain: hostname } })
    expect(reason).toContain('is the host name of Crux itself')
    expect(await names('Deployment')).toEqual([])
  })

  test('that another namespace has are refused by host and path, without a name of the other', async () => {
    const domain = `${randomUUID()}.example.com`
    const other = await agent.createNamespace()
    const backend = { service: { name: 'secret-project', port: { number: 80 } } }
    await agent.cluster.create({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'secret-project', namespace: other },
      spec: { rules: [{ host: domain, http: { paths: [{ path: '/shop', pathType: 'Prefix', backend }] } }] },
    })
    const { reason } = await deploy({ ...exposed, routing: { domain, path: '/shop/cart' } })
    expect(reason).toBe(`${domain}/shop/cart is in use on this cluster: choose another host name or path`)
    expect(await names('Deployment')).toEqual([])
    await deploySuccessfully({ ...exposed, routing: { domain, path: '/blog' } })
  })

  test('stay with the container that has them, whatever others route below them later', async () => {
    const domain = `${randomUUID()}.example.com`
    await deploySuccessfully({ ...exposed, routing: { domain } })
    const backend = { service: { name: 'solver', port: { number: 80 } } }
    // As cert-manager does while it waits for a certificate.
    await agent.cluster.create({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'solver', namespace: agent.owner.prefix },
      spec: { rules: [{ host: domain, http: { paths: [{ path: '/.well-known/x', pathType: 'Prefix', backend }] } }] },
    })
    await deploySuccessfully({ ...exposed, ...serve('two'), routing: { domain } })
  })

  test('that two containers of the release have are refused', async () => {
    const routing = { domain: `${randomUUID()}.example.com` }
    const instances = ['one', 'two'].map((name) => ({ config: { name, ...exposed, routing } }))
    expect((await deploy({}, { instances })).reason).toBe(
      `${routing.domain}/ is routed to one of the same release too: choose another host name or path`,
    )
  })

  test('never take a certificate that somebody else keeps under the name', async () => {
    await deploySuccessfully(exposed)
    await agent.cluster.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'web-tls', namespace: agent.owner.prefix },
    })
    const { reason } = await deploy({ ...exposed, expose: 'exposeWithTls' })
    expect(reason).toContain('has a Secret named web-tls that is not of this deployment')
  })

  test('wait for no address of a load balancer, which goes away with its setting', async () => {
    const type = async () => getPath(await agent.get('Service', 'web'), 'spec', 'type')
    const balanced = { ...exposed, expose: 'none', useLoadBalancer: true }
    await deploySuccessfully(balanced, { hostDangerousAllowed: true })
    expect(await type()).toBe('LoadBalancer')
    await deploySuccessfully({ ...exposed, expose: 'none' })
    expect(await type()).toBe('ClusterIP')
  })

  test('with metrics warn where the cluster has no operator that reads them', async () => {
    const release = toRelease({ ...exposed, metrics: { enabled: true } })
    expect(await agent.server.deployAndWait(release)).toMatchObject({ successful: true })
    expect(warnings(release).join('\n')).toMatch(/^metrics: the cluster has no operator of Prometheus/)
  })
})

describe.skipIf(missing)('metrics on a Kubernetes with the operator of Prometheus', () => {
  let agent: ClusterAgent
  const crd = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const name = 'servicemonitors.monitoring.coreos.com'
  beforeAll(async () => {
    agent = await startClusterAgent()
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    await agent.admin.json({
      method: 'POST',
      path: crd,
      body: {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name },
        spec: {
          group: 'monitoring.coreos.com',
          scope: 'Namespaced',
          names: { kind: 'ServiceMonitor', plural: 'servicemonitors', singular: 'servicemonitor' },
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      },
    })
  })
  afterAll(async () => {
    await agent?.admin.json({ method: 'DELETE', path: `${crd}/${name}` })
    await agent?.dispose()
  })

  test('have a ServiceMonitor that a failed release puts back, and that ends with the metrics', async () => {
    await expect.poll(() => agent.cluster.serves('ServiceMonitor'), { timeout: 20_000 }).toBe(true)
    const instanceId = randomUUID()
    let number = 0
    const deploy = (config: object) => {
      number += 1
      const previous = number > 1 ? [{ containerName: `${agent.owner.prefix}-web`, instanceId }] : []
      const instances = [{ instanceId, config: { name: 'web', ...serve('one'), ports, ...config } }]
      return agent.server.deployAndWait(agent.release({ deploymentId: 'metrics', number, previous, instances }))
    }
    expect(await deploy({ metrics: { enabled: true } })).toMatchObject({ successful: true })
    const before = await agent.get('ServiceMonitor', 'web')
    expect(before?.fields.spec).toMatchObject({ endpoints: [{ port: 'tcp-80', path: '/metrics' }] })
    expect(await deploy({ metrics: { enabled: true, path: '/other' }, ...shell('exit 1') })).toMatchObject({
      successful: false,
      previousRestored: true,
    })
    expect((await agent.get('ServiceMonitor', 'web'))?.fields.spec).toEqual(before?.fields.spec)
    expect(await deploy({ metrics: { enabled: false } })).toMatchObject({ successful: true })
    expect(await agent.list('ServiceMonitor')).toEqual([])
  })
})
