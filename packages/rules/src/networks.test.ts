import { describe, expect, it } from 'vitest'
import { collectProblems } from './config-problem.ts'
import { checkNetworks, networkDangers, parseNetworkKey } from './networks.ts'

const errors = (key: string) =>
  collectProblems((report) => checkNetworks({ networks: [{ key }] }, report)).map(({ error }) => error)

describe('parseNetworkKey', () => {
  it('parses a plain key as a network of the team, and a key that starts with engine: as a network of the engine', () => {
    expect(parseNetworkKey('shared')).toEqual({ kind: 'team', name: 'shared' })
    expect(parseNetworkKey('engine:db_default')).toEqual({ kind: 'engine', name: 'db_default' })
  })
})

describe('checkNetworks', () => {
  it.each(['shared', 'Shared_1.a-b', 'x'.repeat(128), 'crux-0a1b2c3d-shop', 'engine:db_default', 'engine:abc123'])(
    'accepts %s',
    (key) => expect(errors(key)).toEqual([]),
  )

  it.each([
    ['-x', 'matches'],
    ['a/b', 'matches'],
    ['container:abc', 'matches'],
    ['engine:', 'matches'],
    ['engine:container:abc', 'matches'],
    ['engine:engine:x', 'matches'],
    ['x'.repeat(129), 'max'],
    ['host', 'reserved'],
    ['bridge', 'reserved'],
    ['None', 'reserved'],
    ['default', 'reserved'],
    ['engine:host', 'reserved'],
    ['engine:bridge', 'reserved'],
    [`engine:${'0a'.repeat(32)}`, 'matches'],
  ])('refuses %s', (key, error) => expect(errors(key)).toEqual([error]))
})

describe('networkDangers', () => {
  it('reserves networks of the engine to admins and allows those of the team to all members', () => {
    const dangers = networkDangers({ networks: [{ key: 'shared' }, { key: 'engine:db_default' }] })
    expect(dangers.map(({ property, value }) => [property, value])).toEqual([['networks[1].key', 'engine:db_default']])
  })
})
