import type { ContainerConfigFields } from '@crux/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffConfig } from './config-diff.ts'
import { configFromJson, configToJson } from './config-json.ts'
import { applyConfigPatch, type ConfigPatch, fillRowIds } from './config-patch.ts'

const fields: ContainerConfigFields = {
  name: 'web',
  environment: [
    { id: '1', key: 'A', value: '1' },
    { id: '2', key: 'B', value: '2' },
  ],
  labels: { service: [{ key: 'x', value: '1' }], ingress: [{ key: 'y', value: '1' }] },
}
const apply = (patch: ConfigPatch, changedAt: Record<string, number> = {}) =>
  applyConfigPatch({ fields, patch, changedAt: new Map(Object.entries(changedAt)) })

describe('applyConfigPatch', () => {
  it('replaces whole fields, clears with null, and keeps the rest', () => {
    const result = apply({ config: { name: null, environment: [{ key: 'C', value: '3' }] } })
    expect(result).toMatchObject({
      kind: 'applied',
      fields: { environment: [{ key: 'C', value: '3' }], labels: fields.labels },
      changed: ['name', 'environment.A', 'environment.B', 'environment.C'],
    })
    expect(result.kind === 'applied' && 'name' in result.fields).toBe(false)
  })

  it('merges labels by section and resets one section at once', () => {
    expect(apply({ config: { labels: { service: [{ key: 'z', value: '9' }] } } })).toMatchObject({
      fields: { labels: { service: [{ key: 'z', value: '9' }], ingress: [{ key: 'y', value: '1' }] } },
    })
    const reset = apply({ resetSection: 'labels' })
    expect(reset).toMatchObject({ changed: ['labels.service.x', 'labels.ingress.y'] })
    expect(reset.kind === 'applied' && reset.fields.labels).toBeUndefined()
  })

  it('changes only the rows that keys name: update, addition, removal', () => {
    const change = apply({ config: { environment: [{ key: 'B', value: '9' }] }, keys: { environment: ['B'] } })
    expect(change).toMatchObject({
      fields: {
        environment: [
          { key: 'A', value: '1' },
          { key: 'B', value: '9' },
        ],
      },
      changed: ['environment.B'],
    })
    expect(apply({ config: { environment: [] }, keys: { environment: ['A'] } })).toMatchObject({
      fields: { environment: [{ key: 'B' }] },
      changed: ['environment.A'],
    })
    expect(apply({ config: { environment: [{ key: 'N', value: '' }] }, keys: { environment: ['N'] } })).toMatchObject({
      fields: { environment: [{ key: 'A' }, { key: 'B' }, { key: 'N', value: '' }] },
    })
  })

  it('reports a conflict with the current value, only for parts that changed since the revision', () => {
    const patch = { config: { environment: [{ key: 'A', value: '7' }] }, keys: { environment: ['A'] }, revision: 5 }
    expect(apply(patch, { 'environment.A': 6 })).toEqual({
      kind: 'conflict',
      conflicts: [{ property: 'environment.A', value: { key: 'A', value: '1' } }],
    })
    expect(apply(patch, { 'environment.A': 5, 'environment.B': 9 }).kind).toBe('applied')
    expect(apply({ ...patch, revision: undefined }, { 'environment.A': 6 }).kind).toBe('applied')
  })

  it('reports no conflict about a value that is already the same', () => {
    expect(apply({ config: { name: 'web' }, revision: 1 }, { name: 8 })).toMatchObject({ kind: 'applied', changed: [] })
  })

  it('detects that a whole list would undo a concurrent change', () => {
    const patch = { config: { environment: [{ key: 'A', value: '9' }] }, revision: 5 }
    expect(apply(patch, { 'environment.B': 6 })).toMatchObject({ conflicts: [{ property: 'environment.B' }] })
  })
})

describe('fillRowIds', () => {
  it('keeps ids of equal keys, gives each id once, and fills inner lists', () => {
    let next = 0
    const filled = fillRowIds(
      {
        environment: [
          { key: 'B', value: 'x' },
          { key: 'N', value: 'y' },
        ],
        args: [{ key: 'same' }, { key: 'same' }],
        logConfig: { driver: 'json-file', options: [{ key: 'max-size', value: '1m' }] },
      },
      { ...fields, args: [{ id: '7', key: 'same' }] },
      () => `new-${++next}`,
    )
    expect(filled.environment?.map((row) => row.id)).toEqual(['2', 'new-1'])
    expect(filled.args?.map((row) => row.id)).toEqual(['7', 'new-2'])
    expect(filled.logConfig?.options?.[0]?.id).toBe('new-3')
  })
})

describe('diffConfig', () => {
  it('describes changes as readable text, and never shows a secret', () => {
    const to: ContainerConfigFields = {
      name: 'web',
      environment: [{ key: 'B', value: 'two' }],
      ports: [{ internal: 80, external: 8080 }],
      args: [{ key: '-c' }, { key: 'echo hi' }],
      secrets: [{ key: 'S', required: false, value: 'BEGIN PGP' }],
      labels: fields.labels,
    }
    expect(diffConfig(fields, to)).toEqual([
      { property: 'args', from: undefined, to: '-c "echo hi"' },
      { property: 'environment.A', from: '1', to: undefined },
      { property: 'environment.B', from: '2', to: 'two' },
      { property: 'ports.80/tcp', from: undefined, to: '8080:80' },
      { property: 'secrets.S', from: undefined, to: 'encrypted' },
    ])
    expect(diffConfig(fields, structuredClone(fields))).toEqual([])
  })
})

describe('the JSON tab', () => {
  const current: ContainerConfigFields = {
    ...fields,
    args: [{ id: 'a', key: '-v' }],
    ports: [{ id: 'p', internal: 80, external: null }],
    secrets: [{ id: 's', key: 'K', required: true, value: 'pgp' }],
    metrics: { enabled: true, port: 80 },
    logConfig: { driver: 'json-file', options: [{ id: 'o', key: 'max-size', value: '1m' }] },
    initContainers: [
      {
        id: 'i',
        name: 'init',
        image: 'busybox',
        command: [{ key: 'sh' }],
        environment: [{ key: 'A', value: 'b' }],
        useParentConfig: false,
      },
    ],
  }
  const parse = (text: string, base = false) => configFromJson(text, current, { newId: () => 'new', base })

  it('shows objects and texts instead of rows, without ids and secrets', () => {
    expect(configToJson(current)).toEqual({
      name: 'web',
      environment: { A: '1', B: '2' },
      labels: { service: { x: '1' }, ingress: { y: '1' } },
      args: ['-v'],
      ports: [{ internal: 80, external: null }],
      metrics: { enabled: true, port: 80 },
      logConfig: { driver: 'json-file', options: { 'max-size': '1m' } },
      initContainers: [
        { name: 'init', image: 'busybox', command: ['sh'], environment: { A: 'b' }, useParentConfig: false },
      ],
    })
  })

  it('sends nothing for an unchanged text', () => {
    expect(parse(JSON.stringify(configToJson(current)))).toEqual({ ok: true, patch: {} })
  })

  it('sends changed fields with the ids of equal keys, and null for removed ones', () => {
    const { name: _, ...json } = configToJson(current)
    expect(parse(JSON.stringify({ ...json, environment: { B: 5, NEW: 'x' } }))).toEqual({
      ok: true,
      patch: {
        name: null,
        environment: [
          { id: '2', key: 'B', value: '5' },
          { id: 'new', key: 'NEW', value: 'x' },
        ],
      },
    })
  })

  it.each([
    ['{', undefined],
    ['[]', undefined],
    ['{"nmae":"x"}', 'nmae'],
    ['{"ports":[{"internal":0}]}', 'ports[0].internal'],
    ['{"secrets":[{"key":"A"}]}', 'secrets'],
    ['{"environment":{"A":{}}}', 'environment[0].value'],
  ])('refuses %s and names the position', (text, property) => {
    expect(parse(text)).toMatchObject({ ok: false, property })
  })

  it('accepts secret keys in a base layer', () => {
    expect(parse('{"secrets":[{"key":"A","required":true}]}', true)).toMatchObject({
      ok: true,
      patch: { secrets: [{ key: 'A', required: true }] },
    })
  })
})

describe('any configuration', () => {
  const keys = ['A', 'B', 'C', 'D', 'E', 'F'] as const
  const rows = (from: readonly string[]) =>
    fc.uniqueArray(fc.record({ key: fc.constantFrom(...from), value: fc.string({ maxLength: 4 }) }), {
      selector: (row) => row.key,
    })
  const config = fc.record(
    {
      environment: rows(keys),
      dockerLabels: rows(keys),
      args: fc.array(fc.record({ key: fc.constantFrom('-a', '-b', 'c d') }), { minLength: 1, maxLength: 4 }),
      ports: fc.uniqueArray(fc.record({ internal: fc.integer({ min: 1, max: 5 }), external: fc.constant(null) }), {
        selector: (row) => row.internal,
      }),
      tty: fc.boolean(),
      labels: fc.record({ service: rows(keys) }),
    },
    { requiredKeys: [] },
  )

  it('results in the same fields for patches of two users to different rows, in either order', () => {
    fc.assert(
      fc.property(config, rows(['A', 'B', 'C']), rows(['D', 'E', 'F']), (start, left, right) => {
        const patches: ConfigPatch[] = [left, right].map((environment, index) => ({
          config: { environment },
          keys: { environment: index === 0 ? ['A', 'B', 'C'] : ['D', 'E', 'F'] },
        }))
        const run = (order: ConfigPatch[]) =>
          order.reduce<ContainerConfigFields>((fields, patch) => {
            const result = applyConfigPatch({ fields, patch, changedAt: new Map() })
            return result.kind === 'applied' ? result.fields : fields
          }, start)
        expect(diffConfig(run(patches), run([...patches].reverse()))).toEqual([])
      }),
    )
  })

  it('does not change when a patch is applied again', () => {
    fc.assert(
      fc.property(config, config, (fields, change) => {
        const patch = { config: change }
        const once = applyConfigPatch({ fields, patch, changedAt: new Map() })
        if (once.kind !== 'applied') throw new Error('no revision, no conflict')
        const twice = applyConfigPatch({ fields: once.fields, patch, changedAt: new Map() })
        expect(twice).toMatchObject({ kind: 'applied', changed: [] })
      }),
    )
  })

  it('results in an empty patch after a round trip through the JSON tab', () => {
    fc.assert(
      fc.property(config, (fields) => {
        const text = JSON.stringify(configToJson(fields))
        expect(configFromJson(text, fields, { newId: () => 'new', base: false })).toEqual({ ok: true, patch: {} })
      }),
    )
  })

  it('differs from another one exactly in the parts of the patch to it', () => {
    fc.assert(
      fc.property(config, config, (fields, other) => {
        const result = applyConfigPatch({ fields, patch: { config: other }, changedAt: new Map() })
        if (result.kind !== 'applied') throw new Error('no revision, no conflict')
        const changed = new Set(diffConfig(fields, result.fields).map((change) => change.property))
        for (const path of changed) expect(result.changed).toContain(path)
      }),
    )
  })
})
