import { computedJudgements, fieldJudgements } from '@crux/rules'
import { describe, expect, test } from 'vitest'
import type { ContainerSpec } from '../containers/container-engine.ts'
import { createOptions } from './create-options.ts'

/** Sets every option: a new field of the type does not compile without a value here. */
const everything: Required<ContainerSpec> = {
  name: 'shop-web',
  image: { name: 'app', tag: '1', id: 'sha256:1' },
  hostname: 'shop-web',
  environment: { A: 'b' },
  labels: { a: 'b' },
  entrypoint: ['/bin/sh'],
  command: ['-c'],
  workingDirectory: '/srv',
  user: '1',
  tty: true,
  restartPolicy: { name: 'on-failure', maximumRetries: 3 },
  exposed: [{ port: 80, protocol: 'tcp' }],
  published: [{ containerPort: 80, hostPort: 8080, protocol: 'tcp', address: '127.0.0.1' }],
  gated: [{ containerPort: 81, hostPort: 8081, protocol: 'tcp', address: '', proxyProtocol: 'v1' }],
  mounts: [
    { kind: 'bind', target: '/a', source: '/data/a', writable: false },
    { kind: 'memory', target: '/m', source: '', writable: true, sizeBytes: 1 },
  ],
  networkMode: 'crux-shop',
  aliases: ['web'],
  links: ['shop-db:db'],
  networks: [{ name: 'other', aliases: ['web'] }],
  log: { driver: 'local', options: { 'max-size': '1m' } },
  capabilities: { add: ['CHOWN'], drop: ['KILL'] },
  healthCheck: { test: ['CMD-SHELL', 'true'], intervalMs: 1, timeoutMs: 1, startPeriodMs: 1, retries: 1 },
  resources: { cpuLimitMillis: 1, memoryLimitBytes: 1, cpuRequestMillis: 1, memoryRequestBytes: 1 },
  ulimits: [{ name: 'nofile', soft: 1, hard: 2 }],
  shmSizeBytes: 1,
  stopSignal: 'SIGINT',
  stopGracePeriodSeconds: 3,
  extraHosts: [{ name: 'db', address: '10.0.0.1' }],
}

/** Objects whose keys are free text. */
const maps = [
  'Labels',
  'ExposedPorts',
  'HostConfig.PortBindings',
  'HostConfig.LogConfig.Config',
  'NetworkingConfig.EndpointsConfig',
]

function leaves(value: unknown, path = ''): string[] {
  if (Array.isArray(value) && value.some((item) => typeof item === 'object'))
    return value.flatMap((item) => leaves(item, path))
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0)
    return [path]
  return Object.entries(value).flatMap(([key, inner]) =>
    leaves(inner, [path, maps.includes(path) ? '*' : key].filter(Boolean).join('.')),
  )
}

describe('an option that the engine receives', () => {
  const judged = new Set(
    [...Object.values(fieldJudgements), ...Object.values(computedJudgements)].flatMap(({ engine }) => engine),
  )
  const given = new Set(leaves(createOptions(everything)))

  test('is classified as safe for users or as admin only', () => {
    expect([...given].filter((option) => !judged.has(option))).toEqual([])
  })

  test('has a classification only while the agent still sends it', () => {
    const within = (option: string) => [...given].some((path) => path === option || path.startsWith(`${option}.`))
    expect([...judged].filter((option) => !within(option))).toEqual([])
  })
})
