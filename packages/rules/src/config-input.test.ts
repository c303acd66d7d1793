import { randomUUID } from 'node:crypto'
import { ContainerConfigPatch } from '@crux/contract'
import { describe, expect, it, test } from 'vitest'
import { keepTypedRows, readConfigInput } from './config-input.ts'

const read = (config: Record<string, unknown>, mayBeUnfinished = true) => readConfigInput(config, { mayBeUnfinished })
const accepted = (config: Record<string, unknown>) => {
  const result = read(config)
  if (!result.ok) throw new Error(JSON.stringify(result.problems))
  expect(ContainerConfigPatch.shape.config.safeParse(result.config).error).toBeUndefined()
  return result
}

describe('a row that a user is still typing', () => {
  const id = randomUUID()
  it.each([
    ['volumes', { id, name: null, path: null, type: 'rwo' }],
    ['volumes', { id, name: 'data', path: '' }],
    ['environment', { id, key: '', value: 'x' }],
    ['ports', { id, internal: 0, external: null }],
    ['ports', { id, internal: null }],
    ['portRanges', { id, internal: { from: 0, to: 0 }, external: { from: 0, to: 0 } }],
    ['commands', { id, key: '' }],
    ['initContainers', { id, name: null, image: null, volumes: [], command: [] }],
    ['initContainers', { id, name: 'copy', image: 'busybox', environment: [{ id: randomUUID(), key: '', value: '' }] }],
    ['ulimits', { id, key: 'nofile', soft: null, hard: null }],
    ['extraHosts', { id, key: 'db', value: '' }],
  ])('of %s is omitted and reported by its id: %j', (field, row) => {
    const { config, typing } = accepted({ [field]: [row], tty: true })
    expect(config).toEqual({ [field]: [], tty: true })
    expect(typing).toEqual({ [field]: [id] })
  })

  it('does not affect the finished rows of its list', () => {
    const rows = [
      { key: 'A', value: '1' },
      { key: '', value: '' },
      { key: 'B', value: null },
    ]
    expect(accepted({ environment: rows }).config).toEqual({ environment: [rows[0], rows[2]] })
  })

  it('inside a setting omits the whole setting', () => {
    const labels = { deployment: [{ key: '', value: '' }] }
    const configContainer = { image: '', volume: 'data', path: '/', keepFiles: false }
    expect(accepted({ labels, configContainer, user: 5 }).config).toEqual({ user: 5 })
    expect(accepted({ logConfig: { driver: 'local', options: [{ key: '', value: '' }] } }).config).toEqual({})
  })

  it('is not the same as a wrong value, which the schema refuses', () => {
    const { config } = read({ volumes: [{ name: 7, path: '/a' }], ports: [{ internal: 70_000 }] }) as { config: object }
    expect(config).toEqual({ volumes: [{ name: 7, path: '/a' }], ports: [{ internal: 70_000 }] })
  })

  it('is an ordinary error where unfinished rows are not allowed', () => {
    const volumes = [{ name: null, path: '/a' }]
    expect(read({ volumes }, false)).toEqual({ ok: true, config: { volumes }, typing: {} })
  })

  it('keeps its stored value and position', () => {
    const [first, second, third] = ['A', 'B', 'C'].map((key) => ({ id: randomUUID(), key, value: key }))
    const before = { environment: [first, second, third] } as never
    const next = { environment: [first, third] } as never
    expect(keepTypedRows(next, before, { environment: [second?.id ?? '', randomUUID()] })).toEqual(before)
    expect(keepTypedRows(next, before, { __proto__: ['x'], tty: ['x'] } as never)).toEqual(next)
  })

  it('as the first of a list that was not set leaves the list unset', () => {
    expect(keepTypedRows({ ports: [], tty: true }, { tty: true }, { ports: [randomUUID()] })).toEqual({ tty: true })
    expect(keepTypedRows({ ports: [] }, { ports: [] }, { ports: [] })).toEqual({ ports: [] })
  })
})

test('unknown settings are problems at any depth, and members that the server adds to its answers are not', () => {
  expect(read({ bogus: 1, privileged: true, volumes: [{ name: 'a', path: '/a', readOnly: true }] })).toEqual({
    ok: false,
    problems: ['bogus', 'privileged', 'volumes[0].readOnly'].map((property) => ({
      property,
      error: 'unknown',
      description: `${property} is not a setting: check the spelling, or remove it`,
    })),
  })
  const answer = {
    id: randomUUID(),
    type: 'image',
    revision: 3,
    updatedAt: 'now',
    updatedBy: 'x',
    parent: {},
    tty: true,
  }
  expect(accepted(answer).config).toEqual({ tty: true })
})

test('paths inside the container become absolute, and buckets lose the slashes around them', () => {
  const { config } = accepted({
    workingDirectory: 'srv/app',
    volumes: [{ name: 'data', path: 'data' }],
    configContainer: { image: 'busybox', volume: 'data', path: 'test/path/', keepFiles: false },
    initContainers: [{ name: 'copy', image: 'busybox', volumes: [{ name: 'data', path: 'vol-path' }] }],
    routing: { path: 'shop' },
    storage: { storageId: null, bucket: '/storage/', path: 'data' },
  })
  expect(config).toEqual({
    workingDirectory: '/srv/app',
    volumes: [{ name: 'data', path: '/data' }],
    configContainer: { image: 'busybox', volume: 'data', path: '/test/path/', keepFiles: false },
    initContainers: [{ name: 'copy', image: 'busybox', volumes: [{ name: 'data', path: '/vol-path' }] }],
    routing: { path: '/shop' },
    storage: { storageId: null, bucket: 'storage', path: 'data' },
  })
})

test('documented shorthands become rows, and one that cannot be parsed is a problem with an example', () => {
  expect(accepted({ ports: ['8080:80/udp', '8000-8001:9000-9001'], restartPolicy: 'unless-stopped' }).config).toEqual({
    ports: [{ external: 8080, internal: 80, protocol: 'udp' }],
    portRanges: [{ external: { from: 8000, to: 8001 }, internal: { from: 9000, to: 9001 } }],
    restartPolicy: 'unlessStopped',
  })
  expect(read({ ports: ['many'] })).toMatchObject({ ok: false, problems: [{ property: 'ports[0]' }] })
})

test.each([
  [{ ports: 'x' }],
  [{ volumes: [null, 7, 'a'] }],
  [{ labels: [] }],
  [{ initContainers: { a: 1 } }],
  [{ environment: { A: 1 } }],
])('input of the wrong shape does not throw: %j', (config) => {
  expect(() => read(config)).not.toThrow()
})
