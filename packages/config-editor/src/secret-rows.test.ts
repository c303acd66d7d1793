import { describe, expect, it } from 'vitest'
import {
  findAddedSecretProblems,
  findOverwrittenSecrets,
  hasTypedSecrets,
  noTypedSecrets,
  type Secret,
  secretRows,
  type TypedSecrets,
  toSecretChanges,
  withAddedSecret,
  withoutSentSecrets,
  withSecretPairs,
  withSecretRemoved,
  withSecretValue,
} from './secret-rows.ts'

const known = { keys: ['ON_NODE'], publicKey: 'now', shared: ['SHARED'] }
const sealed = (key: string, publicKey = 'now'): Secret => ({
  key,
  required: false,
  value: 'pgp',
  encrypted: true,
  publicKey,
})
const named = (key: string, required = false): Secret => ({ key, required })
const states = (own: Secret[], below: Secret[], say: typeof known | undefined) =>
  Object.fromEntries(secretRows(own, below, say).map(({ key, state }) => [key, state]))

describe('the state of a secret', () => {
  it('tells where its value is stored', () => {
    const stale = { ...named('STALE'), value: '', encrypted: false, publicKey: 'now' }
    expect(
      states(
        [sealed('ON_NODE'), sealed('SEALED'), sealed('OLD', 'previous'), stale, named('UNSET')],
        [
          sealed('BELOW'),
          sealed('OLD_BELOW', 'previous'),
          named('MISSING', true),
          named('SHARED', true),
          named('OPEN'),
        ],
        known,
      ),
    ).toEqual({
      BELOW: 'below',
      OLD_BELOW: 'stale',
      MISSING: 'missing',
      SHARED: 'shared',
      OPEN: 'unset',
      ON_NODE: 'on-node',
      SEALED: 'sealed',
      OLD: 'stale',
      STALE: 'stale',
      UNSET: 'unset',
    })
  })

  it('prefers a value of this layer to a lower one, and shows no warning before the key of the node is known', () => {
    expect(states([sealed('A')], [sealed('A', 'previous')], known)).toEqual({ A: 'sealed' })
    expect(states([sealed('A', 'previous')], [sealed('A')], known)).toEqual({ A: 'stale' })
    expect(states([sealed('A', 'previous')], [], undefined)).toEqual({ A: 'sealed' })
  })

  it('keeps keys of lower layers locked and required for each value of this layer', () => {
    expect(secretRows([named('A')], [named('A', true)], known)).toMatchObject([
      { key: 'A', required: true, locked: true, state: 'missing' },
    ])
  })
})

describe('typed secrets', () => {
  const listed = new Set(['A', 'B'])
  const id = () => 'new'

  it('assign pasted pairs to listed keys and add each other key once', () => {
    const begun: TypedSecrets = {
      ...noTypedSecrets,
      added: [{ id: 'empty', key: '', value: '' }],
      removed: new Set(['A']),
    }
    const once = withSecretPairs(
      begun,
      [
        { key: 'A', value: '1' },
        { key: 'C', value: '2' },
      ],
      listed,
      id,
    )
    expect(once).toEqual({
      values: new Map([['A', '1']]),
      added: [{ id: 'new', key: 'C', value: '2' }],
      removed: new Set(),
    })
    expect(withSecretPairs(once, [{ key: 'C', value: '3' }], listed, id).added).toEqual([
      { id: 'new', key: 'C', value: '3' },
    ])
  })

  it('replace the mark for deletion with a new value, and the value with the mark', () => {
    const removed = withSecretRemoved(withSecretValue(noTypedSecrets, 'A', 'x'), 'A', true)
    expect([[...removed.values], [...removed.removed]]).toEqual([[], ['A']])
    const typed = withSecretValue(removed, 'A', 'y')
    expect([[...typed.values], [...typed.removed]]).toEqual([[['A', 'y']], []])
    expect(hasTypedSecrets(withSecretValue(typed, 'A', null))).toBe(false)
    expect(hasTypedSecrets(withSecretRemoved(removed, 'A', false))).toBe(false)
  })

  it('change or lose a row that was added', () => {
    const typed = { ...noTypedSecrets, added: [{ id: 'n', key: '', value: '' }] }
    expect(withAddedSecret(typed, 'n', { key: 'N' }).added).toEqual([{ id: 'n', key: 'N', value: '' }])
    expect(withAddedSecret(typed, 'n', null).added).toEqual([])
  })

  it('become one change per key, without keys that were left empty', () => {
    const typed: TypedSecrets = {
      values: new Map([
        ['A', 'x'],
        ['B', ''],
      ]),
      added: [
        { id: 'c', key: 'C', value: '' },
        { id: 'd', key: '', value: '' },
      ],
      removed: new Set(['D']),
    }
    expect(toSecretChanges(typed, [{ ...named('A', true), id: 'a' }])).toEqual([
      { key: 'D' },
      { key: 'A', row: { id: 'a', required: true, text: 'x' } },
      { key: 'C', row: { id: 'c', required: false, text: '' } },
    ])
    expect([hasTypedSecrets(typed), hasTypedSecrets(noTypedSecrets)]).toEqual([true, false])
    expect(hasTypedSecrets({ ...noTypedSecrets, values: new Map([['A', '']]) })).toBe(false)
  })

  it('have a problem if a new key is empty, exists already or is invalid', () => {
    const rows = [
      ['1', '', 'v'],
      ['2', 'A', ''],
      ['3', 'C', ''],
      ['4', 'C', ''],
      ['5', 'x y', ''],
      ['6', '', ''],
    ] as const
    const added = rows.map(([row, key, value]) => ({ id: row, key, value }))
    expect([...findAddedSecretProblems({ ...noTypedSecrets, added }, listed)]).toEqual([
      ['1', 'empty'],
      ['2', 'twice'],
      ['4', 'twice'],
      ['5', 'form'],
    ])
  })
})

describe('two users that edit the same secrets', () => {
  const typed = (values: [string, string][], removed: string[] = []): TypedSecrets => ({
    values: new Map(values),
    added: [{ id: 'n', key: 'NEW', value: 'mine' }],
    removed: new Set(removed),
  })
  const row = (key: string, value?: string): Secret => ({ key, required: false, value })

  it('get the typed keys that another user changed since', () => {
    const seen = [row('A', '1'), row('B', '1'), row('C', '1')]
    const now = [row('A', '2'), row('B', '1'), row('D', '1')]
    const found = findOverwrittenSecrets(
      typed(
        [
          ['A', 'x'],
          ['B', 'x'],
          ['D', 'x'],
          ['E', ''],
        ],
        ['C'],
      ),
      seen,
      now,
    )
    expect([...found].sort()).toEqual(['A', 'C', 'D'])
    expect(findOverwrittenSecrets(typed([['A', 'x']]), now, now).size).toBe(0)
  })

  it('keep what was typed during a save', () => {
    const before = typed(
      [
        ['A', 'x'],
        ['B', 'x'],
      ],
      ['C'],
    )
    const sent = toSecretChanges(before, [])
    const meanwhile = {
      ...before,
      values: new Map([
        ['A', 'x'],
        ['B', 'more'],
      ]),
    }
    const left = withoutSentSecrets(meanwhile, sent)
    expect([...left.values]).toEqual([['B', 'more']])
    expect([left.added, [...left.removed]]).toEqual([[], []])
  })
})
