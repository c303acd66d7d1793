import type { ContainerConfig } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { generatedLength, generateSecret, listSecretGroups, toGroupChanges } from './secret-groups.ts'

const key = 'the key of the node'
const config = (id: string, fields: Partial<ContainerConfig>): ContainerConfig => ({ id, type: 'image', ...fields })
const generated = (name: string, generate = 'database') => ({ key: name, required: true, generate })
const sealed = (name: string, publicKey = key) => ({
  key: name,
  required: false,
  value: 'pgp',
  encrypted: true,
  publicKey,
})
const instance = (id: string, image: Partial<ContainerConfig>, own: Partial<ContainerConfig> = {}) => ({
  id,
  image: { name: id, config: config(`image-${id}`, image) },
  config: config(`config-${id}`, { type: 'instance', revision: 3, ...own }),
})
const database = (own?: Partial<ContainerConfig>) =>
  instance('b-db', { secrets: [generated('POSTGRES_PASSWORD')] }, own)
const client = (own?: Partial<ContainerConfig>) =>
  instance('a-web', { name: 'shop', secrets: [generated('DB_PASSWORD'), generated('SESSION', 'session')] }, own)
const deployment = (
  instances: ReturnType<typeof instance>[],
  layers: { config?: Partial<ContainerConfig>; bundle?: Partial<ContainerConfig> } = {},
) => ({
  publicKey: key,
  config: config('deployment', { type: 'deployment', ...layers.config }),
  configBundles: layers.bundle
    ? [
        {
          id: 'bundle',
          name: 'Bundle',
          configId: 'bundle',
          config: config('bundle', { type: 'config-bundle', ...layers.bundle }),
        },
      ]
    : [],
  instances,
})
/** The preview of a start: every required key is missing but those given, as `instance.KEY`. */
const preview = (instances: ReturnType<typeof instance>[], present: string[] = []) => ({
  instances: instances.map(({ id }) => ({ instanceId: id, containerName: id, action: 'create' as const, changes: [] })),
  problems: instances.flatMap(({ id, image }, index) =>
    (image.config.secrets ?? [])
      .filter((row) => !present.includes(`${id}.${row.key}`))
      .map((row) => ({
        property: `instances[${index}].config.secrets.${row.key}`,
        error: 'missingSecret',
        description: '',
        instanceId: id,
      })),
  ),
})
const states = (...[given, problems]: Parameters<typeof listSecretGroups>) =>
  Object.fromEntries(listSecretGroups(given, problems).map(({ group, state }) => [group, state]))

describe('the groups of generated values', () => {
  it('are missing while no key has a value, and name container and key of each member', () => {
    const instances = [database(), client()]
    const groups = listSecretGroups(deployment(instances), preview(instances))
    expect(groups).toMatchObject([
      {
        group: 'database',
        state: 'missing',
        members: [
          { instanceId: 'b-db', configId: 'config-b-db', container: 'b-db', key: 'POSTGRES_PASSWORD', revision: 3 },
          { instanceId: 'a-web', configId: 'config-a-web', container: 'shop', key: 'DB_PASSWORD' },
        ],
      },
      { group: 'session', state: 'missing', members: [{ key: 'SESSION' }] },
    ])
  })

  it('are partial while one key of several has a value', () => {
    const instances = [database({ secrets: [sealed('POSTGRES_PASSWORD')] }), client()]
    expect(states(deployment(instances), preview(instances, ['b-db.POSTGRES_PASSWORD']))).toEqual({
      database: 'partial',
      session: 'missing',
    })
  })

  it('are set when every key has a value, in whichever layer', () => {
    const instances = [database({ secrets: [sealed('POSTGRES_PASSWORD')] }), client({ secrets: [sealed('SESSION')] })]
    const layers = { config: { secrets: [sealed('DB_PASSWORD')] } }
    const all = ['b-db.POSTGRES_PASSWORD', 'a-web.DB_PASSWORD', 'a-web.SESSION']
    expect(states(deployment(instances, layers), preview(instances, all))).toEqual({ database: 'set', session: 'set' })
  })

  it('count a value of another deployment of the prefix, which only the preview knows', () => {
    const instances = [database(), client()]
    expect(states(deployment(instances), preview(instances, ['a-web.DB_PASSWORD']))).toMatchObject({
      database: 'partial',
    })
  })

  it('do not count what the preview does not show', () => {
    const instances = [database(), client()]
    expect(states(deployment(instances), preview([instances[0] ?? database()]))).toEqual({
      database: 'missing',
      session: 'missing',
    })
  })

  it('do not count a value that was encrypted for an earlier key of the node', () => {
    const instances = [database({ secrets: [sealed('POSTGRES_PASSWORD', 'an earlier key')] }), client()]
    expect(states(deployment(instances), preview(instances, ['b-db.POSTGRES_PASSWORD']))).toMatchObject({
      database: 'missing',
    })
  })

  it('take the group of a bundle', () => {
    const plain = instance('web', { secrets: [{ key: 'TOKEN', required: true }] })
    const layers = { bundle: { secrets: [generated('TOKEN', 'token')] } }
    expect(states(deployment([plain], layers), preview([plain]))).toEqual({ token: 'missing' })
  })

  it('are none for keys without a group', () => {
    const plain = instance('web', { secrets: [{ key: 'TOKEN', required: true }] })
    expect(listSecretGroups(deployment([plain]), preview([plain]))).toEqual([])
  })
})

describe('the changes that store generated values', () => {
  it('give every key of a group the same value, one change per instance, in the order of the configurations', () => {
    const instances = [database({ secrets: [{ id: 'row', key: 'POSTGRES_PASSWORD', required: true }] }), client()]
    const groups = listSecretGroups(deployment(instances), preview(instances))
    const values = new Map([
      ['database', 'one'],
      ['session', 'two'],
    ])
    expect(toGroupChanges(groups, values)).toEqual([
      {
        configId: 'config-a-web',
        revision: 3,
        changes: [
          { key: 'DB_PASSWORD', row: { required: false, text: 'one' } },
          { key: 'SESSION', row: { required: false, text: 'two' } },
        ],
      },
      {
        configId: 'config-b-db',
        revision: 3,
        changes: [{ key: 'POSTGRES_PASSWORD', row: { id: 'row', required: true, text: 'one' } }],
      },
    ])
  })

  it('leave out groups without a new value', () => {
    const instances = [database(), client()]
    const groups = listSecretGroups(deployment(instances), preview(instances))
    expect(toGroupChanges(groups, new Map([['session', 'two']])).flatMap(({ changes }) => changes)).toMatchObject([
      { key: 'SESSION' },
    ])
  })
})

describe('a generated value', () => {
  it('has 32 characters that neither an address nor a shell changes, and differs every time', () => {
    const values = Array.from({ length: 500 }, () => generateSecret())
    for (const value of values) {
      expect(value).toMatch(/^[a-zA-Z2-9]{32}$/)
      expect(value).not.toMatch(/[lIO]/)
      expect(encodeURIComponent(value)).toBe(value)
    }
    expect(new Set(values).size).toBe(values.length)
  })

  it('uses each character equally often', () => {
    const counts = new Map<string, number>()
    for (let round = 0; round < 2_000; round++)
      for (const character of generateSecret()) counts.set(character, (counts.get(character) ?? 0) + 1)
    expect(counts.size).toBe(56)
    const expected = (2_000 * generatedLength) / 56
    for (const count of counts.values()) expect(Math.abs(count - expected) / expected).toBeLessThan(0.25)
  })

  it('asks for more random bytes when some are above the last multiple of the alphabet', () => {
    let asked = 0
    const value = generateSecret((bytes) => bytes.fill(asked++ === 0 ? 255 : 1))
    expect([value, asked]).toEqual(['b'.repeat(32), 2])
  })
})
