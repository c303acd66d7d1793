import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord, toRecord } from '@crux/rules'
import { describe, expect, test } from 'vitest'
import { type KeyRule, serviceKeys, topLevelKeys } from './key-table.ts'

const root = join(import.meta.dirname, '../../../..')
const schema = toRecord(JSON.parse(readFileSync(join(import.meta.dirname, '../../schema/compose-spec.json'), 'utf8')))
const definitions = toRecord(schema.$defs)

type Table = Readonly<Record<string, KeyRule>>

/**
 * The keys of the schema below a node that a table has to name: all properties, and `*` for names and indexes. Keys below one that is not kept are
 * not kept either.
 */
function listKeys(node: unknown, table: Table, at = ''): string[] {
  const { $ref, allOf, oneOf, anyOf, properties, patternProperties, items } = toRecord(node)
  const below = (name: string) => (at === '' ? name : `${at}.${name}`)
  const descend = (name: string, inner: unknown) => {
    const key = below(name)
    return isRecord(table[key]) ? [] : listKeys(inner, table, key)
  }
  const name = typeof $ref === 'string' ? $ref.replace('#/$defs/', '') : undefined
  return [
    ...(name === undefined ? [] : listKeys(definitions[name], table, at)),
    ...[allOf, oneOf, anyOf].flatMap((part) =>
      Array.isArray(part) ? part.flatMap((inner: unknown) => listKeys(inner, table, at)) : [],
    ),
    ...Object.entries(toRecord(properties)).flatMap(([key, inner]) => [below(key), ...descend(key, inner)]),
    ...Object.entries(toRecord(patternProperties))
      .filter(([pattern]) => pattern !== '^x-')
      .flatMap(([, inner]) => descend('*', inner)),
    ...(items === undefined ? [] : descend('*', items)),
  ]
}

const tables = [
  ['services', definitions.service, serviceKeys],
  ['the top level', { ...schema, properties: { ...toRecord(schema.properties), services: {} } }, topLevelKeys],
] as const

describe.each(tables)('the keys of %s', (_, node, table) => {
  const keys = [...new Set(listKeys(node, table))].sort()

  test('are found in the schema', () => {
    expect(keys.length).toBeGreaterThan(20)
  })

  test('are all kept, or have a reason why they are not', () => {
    expect(keys.filter((key) => !Object.hasOwn(table, key))).toEqual([])
  })

  test('are all in the schema', () => {
    const known = (key: string) => keys.includes(key) || key.endsWith('.*')
    expect(Object.keys(table).filter((key) => !known(key))).toEqual([])
  })
})

describe('docs/composer.md', () => {
  const text = readFileSync(join(root, 'docs/composer.md'), 'utf8')
  const section = (heading: string) => text.split(/^## /m).find((part) => part.startsWith(heading)) ?? ''
  const keysIn = (part: string) =>
    [...part.matchAll(/^\| ([^|]+) \|/gm)]
      .flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, key]) => key))
      .sort()
  const listed = (table: Table, isKept: boolean) =>
    Object.entries(table).flatMap(([key, rule]) => ((rule === 'kept') === isKept ? [key] : []))
  const outermost = (keys: string[]) => keys.filter((key) => !key.includes('.'))

  test('lists each key of a service that is kept', () => {
    expect(keysIn(section('What is kept'))).toEqual(
      outermost(listed(serviceKeys, true))
        .filter((key) => !isRecord(serviceKeys[`${key}.*`]))
        .sort(),
    )
  })

  test('lists each key of a service that is not kept', () => {
    const whole = listed(serviceKeys, false).map((key) => key.replace(/^([^.]+)\.\*$/, '$1'))
    expect(keysIn(section('What is not kept'))).toEqual(whole.sort())
  })

  test('lists each key outside of services that is not kept', () => {
    const whole = listed(topLevelKeys, false).map((key) => key.replace(/^([^.]+)\.\*$/, '$1'))
    expect(keysIn(section('Outside of services'))).toEqual(whole.sort())
  })

  test('has the reason of each key', () => {
    const reasons = [serviceKeys, topLevelKeys].flatMap((table) =>
      Object.values(table).flatMap((rule) => (rule === 'kept' ? [] : [rule.reason])),
    )
    expect(reasons.filter((reason) => !text.includes(`| ${reason}`))).toEqual([])
  })
})
