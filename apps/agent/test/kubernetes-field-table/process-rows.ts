import { expect } from 'vitest'
import { pullSeconds } from '../../src/engines/kubernetes/plan/workload.ts'
import { getPath } from '../kit/cluster-objects.ts'
import { type FieldRow, getContainer, getPodSpec, getSpec, type RowKit, type Seen } from './row.ts'

const storageId = '019a7d3e-8c52-7f0b-9d4e-2f6a1b3c5d7e'
const shell = [{ key: '/bin/sh' }, { key: '-c' }]

/** How the program of a container runs. */
export function processRows({ images }: RowKit): FieldRow[] {
  const rows: FieldRow[] = [
    {
      says: 'name: the Deployment has it, and so has its Service, by which the container is reached',
      config: { ports: [{ internal: 8080, external: 80 }] },
      // The name of a pod is that of its Deployment with two further parts.
      script:
        'name=$(hostname | cut -d- -f1); for i in $(seq 100); do wget -q -O - http://$name/ && break; sleep 0.2; done; echo $name',
      check({ name, output, service, workload }) {
        expect(workload.name).toBe(name)
        expect(service?.name).toBe(name)
        expect(output.split('\n').slice(-2)).toEqual(['field', name])
      },
    },
    {
      says: 'user',
      config: { user: 1_000 },
      script: 'id -u',
      alone: true,
      check: ({ output }) => expect(output).toBe('1000'),
    },
    {
      says: 'user with a volume, which it may write to',
      config: { user: 1_000, volumes: [{ name: 'mine', path: '/mine', size: '1Mi' }] },
      script: 'touch /mine/file && id -G',
      alone: true,
      check: ({ output }) => expect(output.split(' ')).toContain('1000'),
    },
    {
      says: 'user 0',
      config: { user: 0 },
      script: 'id -u',
      alone: true,
      check(seen) {
        expect(seen.output).toBe('0')
        expect(getContainer(seen)).toMatchObject({ securityContext: { runAsUser: 0 } })
      },
    },
    {
      says: 'workingDirectory, made where the image has none',
      config: { workingDirectory: '/srv/here' },
      script: 'pwd',
      check: ({ output }) => expect(output).toBe('/srv/here'),
    },
    {
      says: 'tty',
      config: { tty: true },
      script: 'test -t 1 && echo terminal',
      check: ({ output }) => expect(output).toBe('terminal'),
    },
    {
      says: 'no tty',
      config: { tty: false },
      script: 'test -t 1 || echo none',
      check: ({ output }) => expect(output).toBe('none'),
    },
    {
      says: 'commands and args, with spaces, quotes and references as they are',
      alone: true,
      config: {
        commands: shell,
        args: [{ key: `echo "two  words" '$(VALUE) $$(VALUE) $$ $€ $'; exec sleep 1000` }],
        environment: [{ key: 'VALUE', value: 'replaced' }],
      },
      check: ({ output }) => expect(output).toBe('two  words $(VALUE) $$(VALUE) $$ $€ $'),
    },
    {
      says: 'stopGracePeriodSeconds',
      config: { stopGracePeriodSeconds: 2 },
      check: (seen) => expect(getPodSpec(seen)).toMatchObject({ terminationGracePeriodSeconds: 2 }),
    },
    {
      says: 'stopGracePeriodSeconds 0, which kills at once',
      config: { stopGracePeriodSeconds: 0 },
      check: (seen) => expect(getPodSpec(seen)).toMatchObject({ terminationGracePeriodSeconds: 0 }),
    },
    {
      says: 'capabilities, added and dropped',
      config: {
        capabilities: [
          { key: 'NET_ADMIN', value: 'add' },
          { key: 'cap_chown', value: 'drop' },
        ],
      },
      script: "sed -n 's/^CapEff:[^0-9a-f]*//p' /proc/self/status",
      check({ output }) {
        const effective = BigInt(`0x${output}`)
        const has = (capability: bigint) => ((effective >> capability) & 1n) === 1n
        // By their numbers in capability.h: NET_ADMIN, CHOWN, and KILL, which nobody changed.
        expect([has(12n), has(0n), has(5n)]).toEqual([true, false, true])
      },
    },
  ]
  return images ? [...rows, ...imageRows(images)] : rows
}

/** Files that are in a volume before the container starts. */
export function fileRows({ bucket, files }: RowKit): FieldRow[] {
  const volumes = (name: string) => [{ name, path: `/${name}`, size: '1Mi' }]
  return [
    ...(files
      ? [
          {
            says: 'configContainer, whose files the container finds',
            config: {
              volumes: volumes('conf'),
              configContainer: { image: files, path: '/etc/app', volume: 'conf', keepFiles: false },
            },
            script: 'cat /conf/file; echo',
            alone: true,
            check: ({ output }: Seen) => expect(output).toBe('from the image'),
          },
        ]
      : []),
    ...(bucket
      ? [
          {
            says: 'storage, whose objects the container finds',
            config: { volumes: volumes('objects'), storage: { storageId, bucket: `${bucket}/site`, path: 'objects' } },
            script: 'cat /objects/file; echo',
            alone: true,
            check: ({ output }: Seen) => expect(output).toBe('from the bucket'),
          },
        ]
      : []),
  ]
}

/** What comes from the image where the configuration has nothing. */
function imageRows({ entrypoint, user }: NonNullable<RowKit['images']>): FieldRow[] {
  return [
    {
      says: 'user -1, which is the one of the image',
      config: { user: -1 },
      script: 'id -u',
      image: user,
      check: ({ output }) => expect(output).toBe('7'),
    },
    {
      says: 'args alone, which follow the entrypoint of the image',
      config: { args: [{ key: 'two  words' }] },
      image: entrypoint,
      alone: true,
      check: ({ output }) => expect(output).toBe('entrypoint: two  words'),
    },
  ]
}

/** Limits of the control group, as the program sees them. */
export function limitRows(): FieldRow[] {
  const read = (...files: string[]) => `cat ${files.map((file) => `/sys/fs/cgroup/${file}`).join(' ')} 2>/dev/null`
  return [
    {
      says: 'resourceConfig: limits and requests',
      config: {
        resourceConfig: { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '0.25', memory: '32Mi' } },
      },
      script: [
        read('memory/memory.limit_in_bytes', 'memory.max'),
        read('cpu/cpu.cfs_quota_us', 'cpu.max'),
        read('cpu/cpu.shares', 'cpu.weight'),
      ].join('; '),
      check(seen) {
        expect(seen.output.split('\n')).toEqual([
          String(64 * 1_024 ** 2),
          expect.stringMatching(/^50000( 100000)?$/),
          expect.stringMatching(/^(256|10)$/),
        ])
        expect(getPodSpec(seen)).toMatchObject({
          containers: [
            { resources: { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '250m', memory: '32Mi' } } },
          ],
        })
      },
    },
    {
      says: 'resourceConfig: a limit of 0 is none, and requests alone limit nothing',
      config: { resourceConfig: { limits: { cpu: '0' }, requests: { memory: '8Mi' } } },
      check: (seen) =>
        expect(getPodSpec(seen)).toMatchObject({ containers: [{ resources: { requests: { memory: '8Mi' } } }] }),
    },
  ]
}

/** What counts as started. */
export function stateRows(): FieldRow[] {
  return [
    {
      says: 'expectedState exited with a code, which is a Job',
      config: {
        commands: shell,
        args: [{ key: 'echo work; exit 3' }],
        expectedState: { state: 'exited', exitCode: 3, timeout: 30 },
      },
      alone: true,
      check({ name, output, workload }) {
        expect(workload.kind).toBe('Job')
        expect(workload.name).toMatch(new RegExp(`^${name}-1-[0-9a-f]{8}$`))
        expect(getSpec(workload)).toMatchObject({ activeDeadlineSeconds: 30 + pullSeconds, backoffLimit: 0 })
        expect(output).toBe('work')
      },
    },
    {
      says: 'expectedState exited, without a code',
      config: { commands: shell, args: [{ key: 'echo done' }], expectedState: { state: 'exited' } },
      alone: true,
      check({ pods, workload }) {
        const state = { terminated: { exitCode: 0 } }
        expect(pods[0]?.fields.status).toMatchObject({ containerStatuses: [{ state }] })
        expect(getPath(workload, 'spec', 'activeDeadlineSeconds')).toBe(120 + pullSeconds)
      },
    },
    {
      says: 'expectedState running with a time limit',
      config: { expectedState: { state: 'running', timeout: 33 } },
      check({ workload }) {
        expect(workload.kind).toBe('Deployment')
        expect(getPath(workload, 'spec', 'progressDeadlineSeconds')).toBe(33)
      },
    },
  ]
}
