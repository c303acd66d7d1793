import { expect, it } from 'vitest'
import { finishedAt, readInspection } from './inspection.ts'

const engine = {
  Id: 'abc',
  Created: '2026-01-01T00:00:00.5Z',
  Name: '/shop-api',
  RestartCount: 2,
  State: { Status: 'exited', ExitCode: 137, Error: '', Running: false, FinishedAt: '2026-01-01T02:00:00Z' },
  Config: { Image: 'api:1', Env: ['B=2', 'A=x=y'], Labels: { team: 'a' }, Cmd: ['/bin/sh', '-c', 'a b'], User: '' },
  HostConfig: { Memory: 0, Privileged: false, Binds: null, Devices: [], RestartPolicy: { Name: 'always' } },
  NetworkSettings: { Networks: { shop: { IPAddress: '10.0.0.2', Aliases: ['api'] } } },
  Mounts: [{ Source: '/data', Destination: '/var', RW: false }],
}
const read = (state = {}) => readInspection(JSON.stringify({ ...engine, State: { ...engine.State, ...state } }))

it('converts the inspection of a container to tables', () => {
  const inspection = read()
  expect(inspection?.general).toContainEqual({ name: 'name', value: 'shop-api' })
  expect(inspection?.general).toContainEqual({ name: 'exitCode', value: '137' })
  expect(inspection?.general).toContainEqual({ name: 'createdAt', value: '2026-01-01T00:00:00.5Z' })
  expect(inspection?.general.some(({ name }) => name === 'error')).toBe(false)
  expect(inspection?.environment).toEqual([
    { name: 'A', value: 'x=y' },
    { name: 'B', value: '2' },
  ])
  expect(inspection?.networks).toEqual([{ name: 'shop', value: '10.0.0.2, api' }])
  expect(inspection?.mounts).toEqual([{ name: '/var', value: '/data (read-only)' }])
})

it('gives a running container neither an exit code nor an end', () => {
  const running = { Status: 'running', Running: true, ExitCode: 0, FinishedAt: '2026-01-01T01:00:00Z' }
  const names = read(running)?.general.map(({ name }) => name)
  expect(names).not.toContain('exitCode')
  expect(names).not.toContain('finishedAt')
  expect(finishedAt(JSON.stringify({ State: running }))).toBeNull()
  expect(finishedAt(JSON.stringify(engine))).toBe('2026-01-01T02:00:00Z')
})

it("leaves out times that the engine writes as the year 1, which mean 'never'", () => {
  const names = read({ StartedAt: '0001-01-01T00:00:00Z' })?.general.map(({ name }) => name)
  expect(names).not.toContain('startedAt')
})

it('lists other values of an inspection by path, without empty values and those that the tables show', () => {
  expect(read()?.rest).toEqual([
    { name: 'Config.Cmd', value: '["/bin/sh","-c","a b"]' },
    { name: 'HostConfig.Memory', value: '0' },
    { name: 'HostConfig.Privileged', value: 'false' },
    { name: 'HostConfig.RestartPolicy.Name', value: 'always' },
    { name: 'State.Running', value: 'false' },
  ])
})

it('returns null for an inspection in an unknown form, which the JSON view shows', () => {
  expect(readInspection('not json')).toBeNull()
  expect(readInspection('"text"')).toBeNull()
  expect(finishedAt('not json')).toBeNull()
})
