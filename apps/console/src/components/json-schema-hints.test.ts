import { expect, it } from 'vitest'
import { descriptionAt, type JsonSchema, propertyHints, valueHints } from './json-schema-hints.ts'

const schema: JsonSchema = {
  type: 'object',
  properties: {
    tty: { anyOf: [{ type: 'boolean' }, { type: 'null' }], description: 'A terminal' },
    restart: { anyOf: [{ $ref: '#/$defs/policy' }, { type: 'null' }] },
    ports: {
      type: 'array',
      items: {
        anyOf: [
          { type: 'string', description: '8080:80' },
          { type: 'object', properties: { internal: { type: 'integer', description: 'Inside' } } },
        ],
      },
    },
    ulimits: {
      type: 'object',
      propertyNames: { enum: ['nofile', 'nproc'] },
      additionalProperties: { type: 'integer' },
    },
  },
  $defs: { policy: { type: 'string', enum: ['no', 'always'], description: 'When it ends' } },
}
const inserts = (hints: { insert: string }[]) => hints.map((hint) => hint.insert)

it('offers missing property names of a JSON schema with their descriptions', () => {
  const hints = propertyHints(schema, [], new Set(['ports']))
  expect(inserts(hints)).toEqual(['"tty"', '"restart"', '"ulimits"'])
  expect(hints[0]).toEqual({ insert: '"tty"', detail: 'boolean', description: 'A terminal' })
  expect(hints[1]?.description).toBe('When it ends')
  expect(inserts(propertyHints(schema, ['ports', 0], new Set()))).toEqual(['"internal"'])
  expect(inserts(propertyHints(schema, ['ulimits'], new Set(['nproc'])))).toEqual(['"nofile"'])
})

it('offers the values of a JSON schema property that has few', () => {
  expect(inserts(valueHints(schema, ['restart']))).toEqual(['"no"', '"always"'])
  expect(inserts(valueHints(schema, ['tty']))).toEqual(['true', 'false'])
  expect(inserts(valueHints(schema, ['ports']))).toEqual(['[]'])
  expect(valueHints(schema, ['nothing', 'like', 'this'])).toEqual([])
})

it('describes the position in a JSON schema', () => {
  expect(descriptionAt(schema, ['tty'])).toBe('A terminal')
  expect(descriptionAt(schema, ['restart'])).toBe('When it ends')
  expect(descriptionAt(schema, ['ports', 2, 'internal'])).toBe('Inside')
  expect(descriptionAt(schema, ['unknown'])).toBeUndefined()
})
