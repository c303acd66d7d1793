import { expect, test } from 'vitest'
import { z } from 'zod'
import { contract, type EndpointSpec, invalidArgument } from './index.ts'

/** Terms of the schema library's own messages. */
const libraryText = /invalid input|too small|too big|expected|received|\bNaN\b|>=|<=/i

const toSentence = (schema: z.ZodType, value: unknown) => {
  const result = schema.safeParse(value)
  return result.success ? undefined : invalidArgument(result.error).message
}

test.each([
  [z.object({ name: z.string() }), {}, 'name: This is required'],
  [z.object({ name: z.string() }), { name: null }, 'name: This must be text'],
  [z.object({ skip: z.coerce.number() }), { skip: 'x' }, 'skip: This must be a number'],
  [z.object({ skip: z.int() }), { skip: 1.5 }, 'skip: This must be a whole number'],
  [z.object({ name: z.string().min(3) }), { name: 'ci' }, 'name: Use at least 3 characters'],
  [z.object({ name: z.string().min(1) }), { name: '' }, 'name: This must not be empty'],
  [z.object({ take: z.int().max(1_000) }), { take: 1_001 }, 'take: Use 1000 or less'],
  [z.object({ ids: z.array(z.uuid()).min(1) }), { ids: [] }, 'ids: This list must not be empty'],
  [z.object({ id: z.uuid() }), { id: '7' }, 'id: This is not a valid id'],
  [z.object({ type: z.enum(['rolling', 'incremental']) }), { type: 'x' }, 'type: Use one of: rolling, incremental'],
  [z.object({ url: z.string().regex(/^x/, 'Start with x') }), { url: 'y' }, 'url: Start with x'],
  [z.strictObject({ a: z.string().optional() }), { b: 1 }, 'body: b: not known here. Remove it, or check the spelling'],
])('validation issue %# has a sentence that describes the problem', (schema, value, sentence) => {
  expect(toSentence(schema, value)).toBe(sentence)
})

test('no body and no query of the contract is refused with a message of the schema library', () => {
  const values = [{}, [], null, 'text', 7, { name: 7 }, { config: { ports: [{ internal: 'x' }], user: 'root' } }]
  const texts = Object.values(contract as Record<string, EndpointSpec>).flatMap(({ body, query }) =>
    [body, query].flatMap((schema) =>
      schema
        ? values.flatMap((value) => schema.safeParse(value).error?.issues.map(({ message }) => message) ?? [])
        : [],
    ),
  )
  expect(texts.length).toBeGreaterThan(100)
  expect(texts.filter((text) => libraryText.test(text))).toEqual([])
})
