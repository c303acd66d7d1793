import { ContainerConfig } from '@crux/contract'
import { arbitraryConfig } from '@crux/rules/arbitrary-config'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createWriter } from './response-writer.ts'

const written = (schema: z.ZodType, value: unknown): unknown => JSON.parse(createWriter(schema)(value))

it('the serialiser writes a text that may also be empty, or null', () => {
  const shape = z.object({
    size: z.string().regex(/^\d+$/).or(z.literal('')).nullish(),
    of: z.literal(['a', 'b']).nullish(),
  })
  for (const value of [{ size: '5' }, { size: '' }, { size: null, of: 'a' }, {}])
    expect(written(shape, value)).toEqual(value)
})

it('the serialiser distinguishes objects by their discriminator, and drops undeclared fields', () => {
  const shape = z.union([
    z.object({ kind: z.literal('a'), x: z.number() }),
    z.object({ kind: z.literal('b'), y: z.string() }),
  ])
  expect(written(shape, { kind: 'b', y: 'yes', x: 1 })).toEqual({ kind: 'b', y: 'yes' })
})

it('the serialiser writes every valid configuration unchanged', () => {
  const write = createWriter(ContainerConfig)
  fc.assert(
    fc.property(arbitraryConfig(), (fields) => {
      const config = { id: crypto.randomUUID(), type: 'image' as const, ...fields }
      expect(JSON.parse(write(config))).toEqual(JSON.parse(JSON.stringify(config)))
    }),
    { numRuns: 100 },
  )
})
