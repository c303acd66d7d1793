import { expect, it } from 'vitest'
import { readInspection } from './inspection.ts'

it('reads what the engine says into tables', () => {
  const inspection = readInspection(
    JSON.stringify({
      Id: 'abc',
      Name: '/shop-api',
      RestartCount: 2,
      State: { Status: 'exited', ExitCode: 137, Error: '' },
      Config: { Image: 'api:1', Env: ['B=2', 'A=x=y'], Labels: { team: 'a' } },
      NetworkSettings: { Networks: { shop: { IPAddress: '10.0.0.2', Aliases: ['api'] } } },
      Mounts: [{ Source: '/data', Destination: '/var', RW: false }],
    }),
  )
  expect(inspection?.general).toContainEqual({ name: 'name', value: 'shop-api' })
  expect(inspection?.general).toContainEqual({ name: 'exitCode', value: '137' })
  expect(inspection?.general.some(({ name }) => name === 'error')).toBe(false)
  expect(inspection?.environment).toEqual([
    { name: 'A', value: 'x=y' },
    { name: 'B', value: '2' },
  ])
  expect(inspection?.networks).toEqual([{ name: 'shop', value: '10.0.0.2, api' }])
  expect(inspection?.mounts).toEqual([{ name: '/var', value: '/data (read-only)' }])
})

it('leaves what it does not understand to the JSON view', () => {
  expect(readInspection('not json')).toBeNull()
  expect(readInspection('"text"')).toBeNull()
})
