import { describe, expect, test } from 'vitest'
import { makeRelease } from '../../../../test/kit/releases.ts'
import { toDesiredWorkload } from './desired-workload.ts'
import { toManifests } from './manifests.ts'

const owner = { teamId: 'team', projectId: 'project', nodeId: 'node', prefix: 'demo' }
const digest = `sha256:${'a'.repeat(64)}`

type PlanOptions = {
  number?: number
  secrets?: Record<string, string>
  admin?: boolean
  drainSeconds?: number
  observationWindowMs?: number
}

function plan(config: object, options: PlanOptions = {}) {
  const release = makeRelease({
    cluster: { drainSeconds: options.drainSeconds },
    owner,
    number: options.number ?? 1,
    deploymentId: 'deployment',
    observationWindowMs: options.observationWindowMs ?? 300,
    hostDangerousAllowed: options.admin ?? false,
    instances: [
      {
        instanceId: 'instance',
        image: 'registry.example.com/app:1',
        auth: { serverAddress: 'registry.example.com', username: 'user', password: 'token' },
        config: { name: 'web', ...config },
      },
    ],
  })
  const [instance] = release.instances
  if (!instance) throw new Error('the release has an instance')
  const auth = { serverAddress: 'registry.example.com', username: 'user', password: 'token' }
  return toManifests(toDesiredWorkload(release, instance, {}), {
    release,
    digest,
    secrets: options.secrets ?? {},
    auth,
  })
}

const text = (value: unknown) => JSON.stringify(value)

describe('a Deployment', () => {
  test.each([
    { observationWindowMs: 0, minReadySeconds: 3, progressDeadlineSeconds: 60 },
    { observationWindowMs: 400, minReadySeconds: 3, progressDeadlineSeconds: 60 },
    { observationWindowMs: 5_000, minReadySeconds: 7, progressDeadlineSeconds: 60 },
    { observationWindowMs: 90_000, minReadySeconds: 92, progressDeadlineSeconds: 93 },
  ])('counts a pod as available when an end within $observationWindowMs ms would be known', (expected) => {
    const { observationWindowMs, ...spec } = expected
    expect(plan({}, { observationWindowMs }).workload.spec).toMatchObject(spec)
  })
})

describe('the pods of a release', () => {
  test('get nothing of the node and no way to the API of the cluster, whatever the configuration says', () => {
    const { workload } = plan(
      {
        networkMode: 'host',
        user: 0,
        ports: [{ internal: 80, external: 80 }],
        volumes: [{ name: 'data', path: '/data' }],
      },
      { admin: true },
    )
    const spec = text(workload.spec)
    for (const forbidden of [
      'hostPath',
      'hostNetwork',
      'hostPort',
      'hostPID',
      'hostIPC',
      'serviceAccountName',
      'privileged',
    ])
      expect(spec).not.toContain(forbidden)
    expect(spec).toContain('"automountServiceAccountToken":false')
    expect(spec).toContain('"seccompProfile":{"type":"RuntimeDefault"}')
    expect(spec).toContain('"allowPrivilegeEscalation":false')
  })

  test('run the image by its digest, with the credentials of its registry in a secret', () => {
    const { pullSecret, workload } = plan({})
    expect(text(workload.spec)).toContain(`"image":"registry.example.com/app:1@${digest}"`)
    expect(text(workload.spec)).toContain(`"imagePullSecrets":[{"name":"${pullSecret?.metadata.name}"}]`)
  })

  test('have readable secrets in a Secret alone, by its name', () => {
    const manifests = plan({}, { secrets: { PASSWORD: 'not-for-others' } })
    const encoded = Buffer.from('not-for-others').toString('base64')
    expect(text(manifests.secret)).toContain(encoded)
    for (const other of [manifests.workload, manifests.configMap, manifests.service])
      expect(text(other) ?? '').not.toMatch(new RegExp(`not-for-others|${encoded}`))
  })

  test('drain before they end, inside of their grace period, where another one takes over behind a service', () => {
    const sleep = (config: object, drainSeconds?: number) =>
      /"preStop":{"sleep":{"seconds":(\d+)}}/.exec(text(plan(config, { drainSeconds }).workload.spec))?.[1]
    const ports = [{ internal: 80 }]
    expect(sleep({ ports })).toBe('2')
    expect(sleep({ ports }, 7)).toBe('7')
    expect(sleep({ ports }, 0)).toBeUndefined()
    expect(sleep({ ports }, 60)).toBe('9')
    expect(sleep({ ports, stopGracePeriodSeconds: 120 }, 60)).toBe('60')
    expect(sleep({ ports, stopGracePeriodSeconds: 2 })).toBe('1')
    expect(sleep({ ports, stopGracePeriodSeconds: 0 })).toBeUndefined()
    expect(sleep({})).toBeUndefined()
    expect(sleep({ ports, deploymentStrategy: 'recreate' })).toBeUndefined()
    expect(sleep({ ports, expectedState: { state: 'exited' } })).toBeUndefined()
  })

  test('pass arguments on as they are written, although the cluster replaces variables in them', () => {
    expect(text(plan({ args: [{ key: 'echo $(HOME) $HOME' }] }).workload.spec)).toContain('echo $$(HOME) $HOME')
    expect(text(plan({ args: [{ key: '$$(HOME) $é $$' }] }).workload.spec)).toContain('$$$$(HOME) $é $$$"')
  })
})

describe('labels', () => {
  test('of a member never replace those that name the owner, nor select the pods of another container', () => {
    const labels = {
      deployment: [
        { key: 'name', value: 'another' },
        { key: 'tier', value: 'front' },
      ],
      service: [{ key: 'name', value: 'another' }],
    }
    const manifests = plan({ labels, ports: [{ internal: 80 }] })
    expect(manifests.workload.metadata.labels).toMatchObject({ tier: 'front', 'dev.crux.team': 'team' })
    expect(manifests.service?.spec).toMatchObject({ selector: { 'dev.crux.name': 'web' } })
  })

  test('on which other software may act, and storage classes, need an admin', () => {
    const istio = { labels: { deployment: [{ key: 'sidecar.istio.io/inject', value: 'true' }] } }
    const classed = { volumes: [{ name: 'data', path: '/data', class: 'fast' }] }
    expect(() => plan(istio)).toThrow(
      'labels.deployment[0].key: Other software of the cluster may act on the label sidecar.istio.io/inject',
    )
    expect(() => plan(classed)).toThrow('volumes[0].class: The storage class fast is none')
    expect(text(plan(istio, { admin: true }))).toContain('sidecar.istio.io/inject')
    expect(text(plan(classed, { admin: true }).claims)).toContain('"storageClassName":"fast"')
  })
})

describe('a configuration', () => {
  test('with a part that the engine does not have is refused by the name of the setting, never applied without it', () => {
    expect(() => plan({ expectedState: { state: 'waiting' } })).toThrow('expectedState.state: A cluster has no')
    const exposed = { expose: 'expose', ports: [{ internal: 80 }] }
    expect(() => plan(exposed)).toThrow('expose: The node has no ingress class')
  })

  test('that asks for a rolling update of a volume with one writer is refused', () => {
    const volumes = [{ name: 'data', path: '/data' }]
    expect(() => plan({ volumes, deploymentStrategy: 'rolling' })).toThrow('deploymentStrategy: The volume data may be')
    expect(plan({ volumes, deploymentStrategy: 'recreate' }).workload.spec).toMatchObject({
      strategy: { type: 'Recreate' },
    })
  })

  test('for a namespace of the cluster itself is refused', () => {
    for (const prefix of ['default', 'kube-system', 'kube-public']) {
      const release = makeRelease({
        owner: { ...owner, prefix },
        instances: [{ image: 'app:1', config: { name: 'web' } }],
      })
      const [instance] = release.instances
      expect(() => instance && toDesiredWorkload(release, instance, {})).toThrow('is a namespace of the cluster itself')
    }
  })

  test('with a volume that one pod writes replaces its pod, and any other rolls without fewer pods than before', () => {
    expect(plan({ volumes: [{ name: 'data', path: '/data' }] }).workload.spec).toMatchObject({
      strategy: { type: 'Recreate' },
    })
    for (const volumes of [
      [],
      [{ name: 'data', path: '/data', type: 'rwx' }],
      [{ name: 'cache', path: '/cache', type: 'mem' }],
    ])
      expect(plan({ volumes }).workload.spec).toMatchObject({
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } },
      })
  })

  test('has the same hash in every release, and another one with any change', () => {
    const hash = (config: object, number: number) =>
      plan(config, { number }).workload.metadata.annotations?.['dev.crux.config-hash']
    const config = { environment: [{ key: 'A', value: '1' }], ports: [{ internal: 80 }] }
    expect(hash(config, 1)).toBe(hash(config, 2))
    expect(hash({ ...config, environment: [{ key: 'A', value: '2' }] }, 1)).not.toBe(hash(config, 1))
  })

  test('names its config and secrets by their content, so that an earlier release finds its own', () => {
    const first = plan({ environment: [{ key: 'A', value: '1' }] })
    const second = plan({ environment: [{ key: 'A', value: '2' }] }, { number: 2 })
    expect(first.configMap?.metadata.name).not.toBe(second.configMap?.metadata.name)
    expect(plan({ environment: [{ key: 'A', value: '1' }] }, { number: 3 }).configMap).toEqual(first.configMap)
    expect(first.configMap).toMatchObject({ immutable: true })
  })

  test('maps every port of a range, its ends too, from outside to inside', () => {
    const portRanges = [{ external: { from: 90, to: 92 }, internal: { from: 80, to: 82 } }]
    expect(plan({ portRanges }).service?.spec).toMatchObject({
      ports: [
        { port: 90, targetPort: 80 },
        { port: 91, targetPort: 81 },
        { port: 92, targetPort: 82 },
      ],
    })
  })
})
