import { type ContainerConfigFields, containerConfigGroups } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { notApplied } from './not-applied.ts'

const everything: ContainerConfigFields = {
  expose: 'expose',
  logConfig: { driver: 'local' },
  restartPolicy: 'always',
  stopSignal: 'SIGINT',
  networkMode: 'bridge',
  networks: [{ key: 'a' }],
  dockerLabels: [{ key: 'a', value: '' }],
  expectedState: { state: 'running' },
  portGate: { enabled: true },
  capabilities: [{ key: 'NET_ADMIN', value: 'add' }],
  ulimits: [{ key: 'nofile', soft: 1, hard: 1 }],
  shmSize: '64Mi',
  extraHosts: [{ key: 'db', value: '10.0.0.1' }],
  deploymentStrategy: 'rolling',
  replicas: 3,
  customHeaders: [{ key: 'X-A' }],
  proxyHeaders: true,
  useLoadBalancer: true,
  extraLBAnnotations: [{ key: 'a', value: 'b' }],
  labels: { service: [{ key: 'a', value: 'b' }] },
  annotations: { ingress: [{ key: 'a', value: 'b' }] },
  metrics: { enabled: true },
}
const properties = (config: ContainerConfigFields, kind: 'docker' | 'k8s') =>
  notApplied(config, kind).map(({ property }) => property)

describe('notApplied', () => {
  it('reports every setting of the other type of node, and none of its own', () => {
    expect(properties(everything, 'docker').sort()).toEqual([...containerConfigGroups.kubernetes].sort())
    expect(properties(everything, 'k8s').sort()).toEqual([...containerConfigGroups.docker].sort())
  })

  it('omits settings that would change nothing', () => {
    const inert: ContainerConfigFields = {
      proxyHeaders: false,
      useLoadBalancer: false,
      labels: { service: [] },
      metrics: { enabled: false, path: '/metrics' },
      customHeaders: [],
      deploymentStrategy: null,
    }
    expect(notApplied(inert, 'docker')).toEqual([])
    expect(notApplied({ portGate: { enabled: false }, shmSize: '', networks: [] }, 'k8s')).toEqual([])
  })

  it('reports what is for an ingress or a load balancer that a container on Kubernetes does not have', () => {
    const config: ContainerConfigFields = {
      customHeaders: [{ key: 'X-A' }],
      proxyHeaders: true,
      extraLBAnnotations: [{ key: 'a', value: 'b' }],
      labels: { ingress: [{ key: 'a', value: 'b' }] },
      annotations: { ingress: [{ key: 'a', value: 'b' }] },
    }
    expect(properties(config, 'k8s')).toEqual([
      'extraLBAnnotations',
      'customHeaders',
      'proxyHeaders',
      'annotations.ingress',
      'labels.ingress',
    ])
    expect(properties({ ...config, expose: 'expose', useLoadBalancer: true }, 'k8s')).toEqual([])
  })

  it('reports a command beside a readiness probe, and times without a check, on Kubernetes alone', () => {
    const both = { readinessProbe: '/', command: 'true', intervalSeconds: 1 }
    expect(properties({ healthCheckConfig: both }, 'k8s')).toEqual(['healthCheckConfig.command'])
    expect(properties({ healthCheckConfig: both }, 'docker')).toEqual([])
    const exec = { test: 'exec' as const, arguments: [{ key: 'true' }], retries: 2 }
    expect(properties({ healthCheckConfig: exec }, 'k8s')).toEqual([])
    expect(properties({ healthCheckConfig: { ...exec, readinessProbe: '/' } }, 'k8s')).toEqual([
      'healthCheckConfig.arguments',
    ])
    const times = { intervalSeconds: 1, timeoutSeconds: 2, startPeriodSeconds: 3, retries: 4 }
    expect(properties({ healthCheckConfig: { ...times, startupProbe: '/' } }, 'k8s')).toEqual(
      Object.keys(times).map((time) => `healthCheckConfig.${time}`),
    )
    expect(properties({ healthCheckConfig: { ...times, livenessProbe: '/' } }, 'k8s')).toEqual([])
  })

  it('reports the parts that one type of node ignores, with their position', () => {
    const config: ContainerConfigFields = {
      healthCheckConfig: { livenessProbe: '/live', readinessProbe: '/ready' },
      volumes: [
        { name: 'a', path: '/a', size: '1G', class: 'fast' },
        { name: 'b', path: '/b', size: '1G', type: 'mem' },
      ],
      ports: [{ internal: 80, external: 8080, bindAddress: '127.0.0.1', proxyProtocol: 'v1' }],
    }
    expect(properties(config, 'docker')).toEqual([
      'healthCheckConfig.livenessProbe',
      'volumes[0].class',
      'volumes[0].size',
    ])
    const [onlyProbe] = notApplied({ healthCheckConfig: { livenessProbe: '/live' } }, 'docker')
    expect(onlyProbe).toMatchObject({ property: 'healthCheckConfig.livenessProbe', partly: true })
    expect(notApplied(config, 'docker')[0]?.partly).toBeUndefined()
    expect(properties(config, 'k8s')).toEqual(['ports[0].external', 'ports[0].bindAddress', 'ports[0].proxyProtocol'])
    const alone: ContainerConfigFields = {
      networkMode: 'host',
      networks: [{ key: 'front' }],
      ports: [{ internal: 80 }, { internal: 81, external: 81 }],
      portRanges: [{ internal: { from: 1, to: 2 }, external: { from: 1, to: 2 } }],
    }
    expect(properties(alone, 'docker')).toEqual(['ports[1].external', 'portRanges[0]', 'networks'])
    expect(properties({ ...alone, expose: 'expose' }, 'docker')).toEqual(['networkMode'])
    for (const { description } of [...notApplied(config, 'docker'), ...notApplied(alone, 'docker')])
      expect(description).toMatch(/^[A-Z].*\w$/)
  })
})
