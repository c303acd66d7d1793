import { expect } from 'vitest'
import { getPath } from '../kit/cluster-objects.ts'
import { waitForAnswer } from '../kit/wait-for-answer.ts'
import { type FieldRow, getContainer, getPodSpec, getSpec, type RowKit } from './row.ts'

const nginx = 'nginx.ingress.kubernetes.io'

const askService = (service: Parameters<typeof getPath>[0], port: number): Promise<string> =>
  waitForAnswer(`http://${String(getPath(service, 'spec', 'clusterIP'))}:${port}/`)

/** Ports of the service. */
export function portRows(): FieldRow[] {
  return [
    {
      says: 'ports: of the service by the external or the internal one, also over UDP, and none on a machine',
      config: {
        ports: [
          { internal: 8080, external: 81 },
          { internal: 8081, external: 82, bindAddress: '127.0.0.2' },
          { internal: 53, external: 5_353, protocol: 'udp' },
          { internal: 53 },
        ],
      },
      async check(seen) {
        expect(getPath(seen.service, 'spec', 'type')).toBe('ClusterIP')
        expect(getPath(seen.service, 'spec', 'ports')).toEqual([
          { name: 'tcp-81', port: 81, targetPort: 8080, protocol: 'TCP' },
          { name: 'tcp-82', port: 82, targetPort: 8081, protocol: 'TCP' },
          { name: 'udp-5353', port: 5_353, targetPort: 53, protocol: 'UDP' },
          { name: 'tcp-53', port: 53, targetPort: 53, protocol: 'TCP' },
        ])
        expect(JSON.stringify(getPodSpec(seen))).not.toContain('hostPort')
        expect(await askService(seen.service, 81)).toBe('field')
        expect(seen.reported.filter((line) => line.startsWith('ports[1].bindAddress: '))).toHaveLength(1)
      },
    },
    {
      says: 'portRanges, pairwise and with both ends',
      config: {
        ports: [],
        portRanges: [{ internal: { from: 8079, to: 8080 }, external: { from: 9_000, to: 9_001 } }],
      },
      async check({ service }) {
        expect(getPath(service, 'spec', 'ports')).toMatchObject([
          { port: 9_000, targetPort: 8079 },
          { port: 9_001, targetPort: 8080 },
        ])
        expect(await askService(service, 9_001)).toBe('field')
      },
    },
    {
      says: 'ports: none, and so no service',
      config: { ports: [] },
      check: ({ service }) => expect(service).toBeUndefined(),
    },
  ]
}

/** Routes of the Ingress. */
export function routeRows({ host }: RowKit): FieldRow[] {
  const path = (name: string, port: string, value: string, pathType: string) => ({
    path: value,
    pathType,
    backend: { service: { name, port: { name: port } } },
  })
  return [
    {
      says: 'expose with TLS and routing: several hosts, path, stripping, upload limit, port',
      config: {
        ports: [{ internal: 9090 }, { internal: 8080, external: 80 }],
        expose: 'exposeWithTls',
        routing: { domain: `a.${host}, b.${host}`, path: '/app', stripPath: true, uploadLimit: '10MB', port: 8080 },
      },
      check({ ingress, name }) {
        const http = { paths: [path(name, 'tcp-80', '/app(/|$)(.*)', 'ImplementationSpecific')] }
        const hosts = [`a.${host}`, `b.${host}`]
        expect(getSpec(ingress)).toEqual({
          ingressClassName: 'nginx',
          tls: [{ hosts, secretName: `${name}-tls` }],
          rules: hosts.map((one) => ({ host: one, http })),
        })
        expect(ingress?.annotations).toMatchObject({
          'cert-manager.io/cluster-issuer': 'letsencrypt',
          [`${nginx}/use-regex`]: 'true',
          [`${nginx}/rewrite-target`]: '/$2',
          [`${nginx}/proxy-body-size`]: '10000000',
        })
      },
    },
    {
      says: 'expose without TLS, by a host alone, at the first TCP port',
      config: {
        ports: [{ internal: 53, protocol: 'udp' }, { internal: 8080 }],
        expose: 'expose',
        routing: { domain: `c.${host}` },
        annotations: null,
      },
      check({ ingress, name }) {
        expect(getSpec(ingress)).toEqual({
          ingressClassName: 'nginx',
          rules: [{ host: `c.${host}`, http: { paths: [path(name, 'tcp-8080', '/', 'Prefix')] } }],
        })
        expect(ingress?.annotations).toEqual({})
      },
    },
    {
      says: 'expose none, which is no route at all',
      config: { expose: 'none', routing: { domain: `d.${host}` }, ports: [{ internal: 8080 }] },
      check({ ingress, service }) {
        expect(service).toBeDefined()
        expect(ingress).toBeUndefined()
      },
    },
  ]
}

/** Probes, which the machine of the pod asks. */
export function healthRows(): FieldRow[] {
  return [
    {
      says: 'healthCheckConfig: probes of the cluster, with its times',
      config: {
        healthCheckConfig: {
          port: 8080,
          startupProbe: '/index.html',
          readinessProbe: 'index.html',
          livenessProbe: '/index.html',
          intervalSeconds: 3,
          timeoutSeconds: 4,
          startPeriodSeconds: 1,
          retries: 5,
        },
        expectedState: { state: 'running', timeout: 40 },
      },
      check(seen) {
        const httpGet = { path: '/index.html', port: 8080 }
        const times = { periodSeconds: 3, timeoutSeconds: 4, failureThreshold: 5, initialDelaySeconds: 1 }
        expect(getContainer(seen)).toMatchObject({
          startupProbe: { httpGet, periodSeconds: 2, failureThreshold: 20 },
          readinessProbe: { httpGet, ...times },
          livenessProbe: { httpGet, ...times },
        })
        expect(seen.pods[0]?.fields.status).toMatchObject({ containerStatuses: [{ ready: true, started: true }] })
      },
    },
    {
      says: 'healthCheckConfig: a command becomes a readiness probe in the shell of the container',
      config: {
        healthCheckConfig: { command: 'echo "asked  by $0" > /tmp/asked', intervalSeconds: 1, retries: 4 },
      },
      script: 'for i in $(seq 100); do test -f /tmp/asked && break; sleep 0.2; done; cat /tmp/asked',
      check(seen) {
        expect(seen.output).toBe('asked  by /bin/sh')
        expect(getContainer(seen)).toMatchObject({
          readinessProbe: {
            exec: { command: ['/bin/sh', '-c', 'echo "asked  by $0" > /tmp/asked'] },
            periodSeconds: 1,
            failureThreshold: 4,
            timeoutSeconds: 30,
          },
        })
      },
    },
    {
      says: 'healthCheckConfig: the form exec runs its arguments without a shell',
      config: {
        healthCheckConfig: {
          test: 'exec',
          arguments: [{ key: 'touch' }, { key: '/tmp/two  words' }],
          intervalSeconds: 1,
        },
      },
      script: 'for i in $(seq 100); do test -f "/tmp/two  words" && break; sleep 0.2; done; ls /tmp',
      check: ({ output }) => expect(output.split('\n')).toContain('two  words'),
    },
    {
      says: 'healthCheckConfig: the form none is no probe at all',
      config: { healthCheckConfig: { test: 'none' } },
      check: (seen) => expect(JSON.stringify(getContainer(seen))).not.toContain('Probe'),
    },
    {
      says: 'healthCheckConfig: what no probe has is said, and not dropped in silence',
      config: {
        healthCheckConfig: { port: 8080, readinessProbe: '/index.html', command: 'false', intervalSeconds: 1 },
      },
      check(seen) {
        expect(JSON.stringify(getContainer(seen))).not.toContain('exec')
        expect(seen.reported.filter((line) => line.startsWith('healthCheckConfig.command: '))).toHaveLength(1)
      },
    },
  ]
}
