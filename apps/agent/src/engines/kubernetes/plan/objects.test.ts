import { describe, expect, test } from 'vitest'
import { makeRelease } from '../../../../test/kit/releases.ts'
import { type ClusterSettings, toClusterSettings } from './cluster-settings.ts'
import { toDesiredWorkload } from './desired-workload.ts'
import { toManifests } from './manifests.ts'

const owner = { teamId: 'team', projectId: 'project', nodeId: 'node', prefix: 'demo' }
const digest = `sha256:${'a'.repeat(64)}`
const nginx: ClusterSettings = { ingress: { className: 'nginx', rootDomain: 'example.com' } }

interface PlanOptions {
  admin?: boolean
  deploymentId?: string
  number?: number
  preparationDigests?: Record<string, string>
  settings?: ClusterSettings
}

function plan(
  config: object,
  { admin = false, deploymentId = 'deployment', number = 1, preparationDigests = {}, settings = {} }: PlanOptions = {},
) {
  const release = makeRelease({
    owner,
    number,
    deploymentId,
    hostDangerousAllowed: admin,
    instances: [{ instanceId: 'instance', image: 'app:1', config: { name: 'web', ...config } }],
  })
  const [instance] = release.instances
  if (!instance) throw new Error('the release has an instance')
  const desired = toDesiredWorkload(release, instance, settings)
  return toManifests(desired, { release, digest, secrets: { TOKEN: 'x' }, auth: undefined, preparationDigests })
}

const exposed = { expose: 'expose', ports: [{ internal: 80 }] } as const

describe('annotations and labels of members', () => {
  test('are refused where they name the owner of an object, for admins too', () => {
    for (const key of ['dev.crux.instance', 'dev.crux.service-category']) {
      const rows = [{ key, value: 'another' }]
      expect(() => plan({ labels: { deployment: rows } }, { admin: true })).toThrow(`labels.deployment: ${key} is kept`)
      expect(() => plan({ annotations: { deployment: rows } }, { admin: true })).toThrow('annotations.deployment: ')
    }
  })

  test('that reach a controller of the cluster need an admin', () => {
    const annotations = { ingress: [{ key: 'nginx.ingress.kubernetes.io/server-snippet', value: 'x' }] }
    expect(() => plan({ ...exposed, annotations }, { settings: nginx })).toThrow('annotations.ingress[0].key: ')
    expect(plan({ ...exposed, annotations }, { settings: nginx, admin: true }).ingress?.metadata).toMatchObject({
      annotations: { 'nginx.ingress.kubernetes.io/server-snippet': 'x' },
    })
  })

  test('without a domain are notes on the object that they are for', () => {
    const rows = (value: string) => [{ key: 'note', value }]
    const annotations = { deployment: rows('pod'), service: rows('service'), ingress: rows('ingress') }
    const { ingress, service, workload } = plan({ ...exposed, annotations }, { settings: nginx })
    expect(workload.metadata.annotations).toMatchObject({ note: 'pod' })
    expect(workload.spec).toMatchObject({ template: { metadata: { annotations: { note: 'pod' } } } })
    expect(service?.metadata.annotations).toEqual({ note: 'service' })
    expect(ingress?.metadata.annotations).toEqual({ note: 'ingress' })
  })
})

describe('labels', () => {
  test('that the cluster would refuse are refused before anything changes', () => {
    const long = [{ key: 'tier', value: 'a'.repeat(64) }]
    expect(() => plan({ labels: { service: long } })).toThrow("labels.service[0].value: A label's value has 63")
  })
})

describe('an id', () => {
  test('that no label can have is refused before anything changes', () => {
    const release = makeRelease({
      owner: { ...owner, teamId: 'a b' },
      instances: [{ image: 'app:1', config: { name: 'web' } }],
    })
    const [instance] = release.instances
    expect(() => instance && toDesiredWorkload(release, instance, {})).toThrow(
      'is no id that the value of a label can be',
    )
  })
})

describe('a service', () => {
  test('selects pods of its project alone, by labels that they have, and the selector of a Deployment stays the same', () => {
    const { service, workload } = plan({ ports: [{ internal: 80 }] })
    const selector = {
      'dev.crux.name': 'web',
      'dev.crux.team': 'team',
      'dev.crux.project': 'project',
      'dev.crux.prefix': 'demo',
    }
    expect(service?.spec).toEqual(expect.objectContaining({ selector }))
    expect(workload.spec).toMatchObject({ template: { metadata: { labels: selector } } })
    expect(workload.spec).toEqual(expect.objectContaining({ selector: { matchLabels: { 'dev.crux.name': 'web' } } }))
  })

  test('is a load balancer only with the permission of an admin', () => {
    const config = {
      ports: [{ internal: 80 }],
      useLoadBalancer: true,
      extraLBAnnotations: [
        { key: 'size', value: 'small' },
        { key: 'zone', value: 'a' },
      ],
      annotations: { service: [{ key: 'zone', value: 'b' }] },
    }
    expect(() => plan(config)).toThrow('useLoadBalancer: A load balancer makes the container public')
    const { service } = plan(config, { admin: true })
    expect(service).toMatchObject({
      metadata: { annotations: { size: 'small', zone: 'b' } },
      spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
    })
    expect(() => plan({ useLoadBalancer: true }, { admin: true })).toThrow('a load balancer needs a port')
  })

  test('without a load balancer has no annotations for one', () => {
    const extraLBAnnotations = [{ key: 'size', value: 'small' }]
    const { service } = plan({ ports: [{ internal: 80 }], extraLBAnnotations })
    expect(service?.metadata.annotations).toBeUndefined()
    expect(service?.spec).toMatchObject({ type: 'ClusterIP' })
  })

  test('has a name that the cluster accepts, or the container is refused', () => {
    expect(() => plan({ name: '1web', ports: [{ internal: 80 }] })).toThrow('it must begin with a letter')
    expect(plan({ name: '1web' }).service).toBeUndefined()
  })
})

describe('an ingress', () => {
  test('routes all host names of the configuration, or the one of the node', () => {
    const hosts = (routing: object | undefined) =>
      plan({ ...exposed, ...(routing && { routing }) }, { settings: nginx }).ingress?.spec
    expect(hosts(undefined)).toMatchObject({ rules: [{ host: 'web.demo.example.com' }] })
    expect(hosts({ domain: 'a.example.org, B.example.org' })).toMatchObject({
      ingressClassName: 'nginx',
      rules: [
        { host: 'a.example.org', http: { paths: [{ path: '/', pathType: 'Prefix' }] } },
        {
          host: 'b.example.org',
          http: { paths: [{ backend: { service: { name: 'web', port: { name: 'tcp-80' } } } }] },
        },
      ],
    })
  })

  test('is named by its addresses at the workload, where pages find them', () => {
    const routes = (config: object) =>
      plan({ ...exposed, ...config }, { settings: nginx }).workload.metadata.annotations?.['dev.crux.routes']
    expect(routes({ routing: { domain: 'a.example.org, b.example.org' } })).toBe(
      'http://a.example.org http://b.example.org',
    )
    expect(routes({ expose: 'exposeWithTls', routing: { domain: 'a.example.org', path: '/api' } })).toBe(
      'https://a.example.org/api',
    )
    expect(routes({ expose: 'none', routing: { domain: 'a.example.org' } })).toBeUndefined()
  })

  test('never answers for every host name without an admin, nor for that of Crux', () => {
    const settings = { ingress: { className: 'nginx', serverUrl: 'https://crux.example.com' } }
    expect(() => plan(exposed, { settings })).toThrow("needs an admin's permission")
    expect(plan(exposed, { settings, admin: true }).ingress?.spec).toMatchObject({ rules: [{ http: {} }] })
    const routing = { domain: 'crux.example.com' }
    expect(() => plan({ ...exposed, routing }, { settings, admin: true })).toThrow('is the host name of Crux itself')
  })

  test('leads to the port of the service that has the routed port behind it', () => {
    const config = { ...exposed, ports: [{ internal: 80 }, { internal: 8080, external: 81 }] }
    expect(plan({ ...config, routing: { port: 8080 } }, { settings: nginx }).ingress?.spec).toMatchObject({
      rules: [{ http: { paths: [{ backend: { service: { port: { name: 'tcp-81' } } } }] } }],
    })
    expect(() => plan({ ...config, routing: { port: 81 } }, { settings: nginx })).toThrow('routing.port: the port 81')
    expect(() => plan({ expose: 'expose' }, { settings: nginx })).toThrow('the container has no TCP port')
  })

  test('has the options of nginx where the class is nginx, and is refused with them elsewhere', () => {
    const config = {
      ...exposed,
      routing: { path: '/a.b', stripPath: true, uploadLimit: '10mb' },
      proxyHeaders: true,
      customHeaders: [{ key: 'X-Own' }],
    }
    expect(plan(config, { settings: nginx }).ingress).toMatchObject({
      metadata: {
        annotations: {
          'nginx.ingress.kubernetes.io/rewrite-target': '/$2',
          'nginx.ingress.kubernetes.io/proxy-body-size': expect.stringMatching(/^\d+$/),
          'nginx.ingress.kubernetes.io/cors-allow-headers': expect.stringMatching(/^X-Own, X-Forwarded-For/),
        },
      },
      spec: { rules: [{ http: { paths: [{ path: '/a\\.b(/|$)(.*)', pathType: 'ImplementationSpecific' }] } }] },
    })
    const settings = { ingress: { className: 'traefik', rootDomain: 'example.com' } }
    expect(() => plan(config, { settings })).toThrow('routing.stripPath: It needs the ingress class nginx')
    expect(plan(exposed, { settings }).ingress?.metadata.annotations).toBeUndefined()
  })

  test('has no path, header or host with which it would leave its place in the configuration of a controller', () => {
    for (const path of ['/a;}', '/a\n', '/a"b', '/$x', '/a{b}'])
      expect(() => plan({ ...exposed, routing: { path } }, { settings: nginx })).toThrow('routing.path: ')
    const customHeaders = [{ key: 'X:a;' }]
    expect(() => plan({ ...exposed, customHeaders }, { settings: nginx })).toThrow('customHeaders: ')
    expect(() => plan({ ...exposed, routing: { domain: 'a;b.example.com' } }, { settings: nginx })).toThrow(
      'is not a host name',
    )
  })

  test('has a certificate for its hosts, from the issuer of the node where there is one', () => {
    const config = { ...exposed, expose: 'exposeWithTls' }
    expect(plan(config, { settings: nginx }).ingress?.spec).toMatchObject({
      tls: [{ hosts: ['web.demo.example.com'] }],
    })
    const settings = { ingress: { ...nginx.ingress, className: 'nginx', clusterIssuer: 'letsencrypt' } }
    expect(plan(config, { settings }).ingress).toMatchObject({
      metadata: { annotations: { 'cert-manager.io/cluster-issuer': 'letsencrypt' } },
      spec: { tls: [{ secretName: 'web-tls' }] },
    })
  })
})

describe('volumes', () => {
  test('of one container may be several in memory and on disk, each with its own size', () => {
    const volumes = [
      { name: 'a', path: '/a', type: 'mem', size: '1Mi' },
      { name: 'b', path: '/b', type: 'mem' },
      { name: 'c', path: '/c', type: 'tmp', size: '2Mi' },
      { name: 'd', path: '/d' },
      { name: 'e', path: '/e', type: 'ro', size: '3Gi' },
    ]
    const { claims, workload } = plan({ volumes })
    expect(workload.spec).toMatchObject({
      template: {
        spec: {
          volumes: [
            { emptyDir: { medium: 'Memory', sizeLimit: '1048576' } },
            { emptyDir: { medium: 'Memory', sizeLimit: '67108864' } },
            { emptyDir: { sizeLimit: '2097152' } },
            { persistentVolumeClaim: { claimName: 'web-d' } },
            { persistentVolumeClaim: { claimName: 'web-e', readOnly: true } },
          ],
        },
      },
    })
    expect(claims).toMatchObject([
      { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1073741824' } } } },
      { spec: { accessModes: ['ReadOnlyMany'] } },
    ])
  })

  test('that a user other than root writes belong to the group of that user', () => {
    const own = (config: object) =>
      (plan(config).workload.spec as { template: { spec: { securityContext: object } } }).template.spec.securityContext
    const volumes = [{ name: 'd', path: '/d' }]
    expect(own({ user: 1_000, volumes })).toMatchObject({ fsGroup: 1_000, fsGroupChangePolicy: 'OnRootMismatch' })
    const root = { seccompProfile: { type: 'RuntimeDefault' } }
    for (const config of [{ volumes }, { user: 0, volumes }, { user: -1, volumes }, { user: 1_000 }])
      expect(own(config)).toEqual(root)
    for (const type of ['mem', 'tmp', 'ro'])
      expect(own({ user: 1_000, volumes: [{ name: 'd', path: '/d', type }] })).toEqual(root)
  })

  test('that one pod writes allow one pod', () => {
    expect(() => plan({ replicas: 2, volumes: [{ name: 'd', path: '/d' }] })).toThrow('replicas: The volume d may be')
  })
})

describe('the settings of a node', () => {
  const agent = { rootDomain: 'example.com', serverUrl: 'https://crux.example.com', hasServiceMonitors: false }
  const release = (cluster: object) => makeRelease({ owner, cluster, instances: [] })

  test('come from the release, and the domain and the address of Crux from the agent', () => {
    const cluster = { ingressClass: 'traefik', certificateIssuer: 'letsencrypt', storageClasses: ['fast'] }
    expect(toClusterSettings(release(cluster), agent)).toEqual({
      ingress: {
        className: 'traefik',
        clusterIssuer: 'letsencrypt',
        rootDomain: 'example.com',
        serverUrl: 'https://crux.example.com',
      },
      hasServiceMonitors: false,
      storageClasses: ['fast'],
    })
    expect(toClusterSettings(release({}), agent).ingress).toBeUndefined()
  })

  test('change the hash of a container only where they change its objects', () => {
    const hash = (config: object, settings: ClusterSettings) =>
      plan(config, { settings }).workload.metadata.annotations?.['dev.crux.config-hash']
    const more = { ...nginx, hasServiceMonitors: true }
    expect(hash({}, more)).toBe(hash({}, {}))
    const traefik = { ingress: { className: 'traefik', rootDomain: 'example.com' } }
    expect(hash(exposed, traefik)).not.toBe(hash(exposed, nginx))
    const metrics = { ...exposed, metrics: { enabled: true } }
    expect(hash(metrics, more)).not.toBe(hash(metrics, nginx))
  })
})

describe('metrics', () => {
  test('become a ServiceMonitor of the own service where the cluster has its operator', () => {
    const config = { ports: [{ internal: 80 }, { internal: 9000 }], metrics: { enabled: true, port: 9000 } }
    expect(plan(config, { settings: { hasServiceMonitors: true } }).serviceMonitor?.spec).toEqual({
      selector: {
        matchLabels: {
          'dev.crux.name': 'web',
          'dev.crux.team': 'team',
          'dev.crux.project': 'project',
          'dev.crux.prefix': 'demo',
        },
      },
      endpoints: [{ port: 'tcp-9000', path: '/metrics' }],
    })
    expect(plan(config).serviceMonitor).toBeUndefined()
  })
})

describe('init containers', () => {
  const init = { name: 'init', image: 'busybox:1', useParentConfig: false }

  test('run a pinned image, or are refused', () => {
    expect(() => plan({ initContainers: [init] })).toThrow('initContainers: the digest of init is not known')
    const pinned = plan({ initContainers: [init] }, { preparationDigests: { 'busybox:1': digest } })
    expect(pinned.workload.spec).toMatchObject({
      template: { spec: { initContainers: [{ name: 'init', image: `busybox@${digest}` }] } },
    })
  })

  test('get the variables and secrets of the container only where the configuration says so', () => {
    const environment = [{ key: 'A', value: '$(B)' }]
    const of = (useParentConfig: boolean) =>
      JSON.stringify(
        plan(
          { environment, initContainers: [{ ...init, useParentConfig, environment }] },
          { preparationDigests: { 'busybox:1': digest } },
        ).workload.spec,
      )
    expect(of(true).match(/"envFrom"/g)).toHaveLength(2)
    expect(of(false).match(/"envFrom"/g)).toHaveLength(1)
    expect(of(false)).toContain('"env":[{"name":"A","value":"$$(B)"}]')
  })

  test('link the volumes of the container, and no others', () => {
    const volumes = [
      { name: 'cache', path: '/cache', type: 'mem' },
      { name: 'more', path: '/more', type: 'tmp' },
    ]
    const linked = (name: string) =>
      plan(
        { volumes, initContainers: [{ ...init, volumes: [{ name, path: '/linked' }] }] },
        { preparationDigests: { 'busybox:1': digest } },
      )
    expect(linked('more').workload.spec).toMatchObject({
      template: { spec: { initContainers: [{ volumeMounts: [{ name: 'volume-1', mountPath: '/linked' }] }] } },
    })
    expect(() => linked('other')).toThrow('links the volume other, which is none of this container')
  })
})

describe('the name of a Job', () => {
  const expectedState = { state: 'exited' }
  const jobName = (config: object = {}, options: PlanOptions = {}) =>
    plan({ expectedState, ...config }, options).workload.metadata.name

  test('has the number of the release, is the same whenever the release is planned, and another one in each deployment', () => {
    expect(jobName({}, { number: 7 })).toMatch(/^web-7-[0-9a-f]{8}$/)
    expect(jobName({}, { number: 7 })).toBe(jobName({ tty: true }, { number: 7 }))
    expect(jobName({}, { number: 7 })).not.toBe(jobName({}, { number: 7, deploymentId: 'another' }))
    expect(jobName({}, { number: 1 }).slice(-8)).not.toBe(jobName({}, { number: 2 }).slice(-8))
  })

  test('fits into a label, also where the name of the container fills one', () => {
    const long = (end: string) => jobName({ name: `${'a'.repeat(62)}${end}` }, { number: 1_234 })
    expect(long('b')).toHaveLength(63)
    expect(long('b')).not.toBe(long('c'))
    expect(jobName({ name: `${'a'.repeat(52)}-${'b'.repeat(10)}` })).toMatch(/^a{52}-1-[0-9a-f]{8}$/)
  })
})
