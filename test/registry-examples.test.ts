import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RegistryWrite, registryTypes } from '@crux/contract'
import { expect, it } from 'vitest'

const page = readFileSync(join(import.meta.dirname, '../docs/registries.md'), 'utf8')
const examples = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, body = '']): unknown => JSON.parse(body))

it('docs/registries.md has an example of every type, and the API accepts each', () => {
  const parsed = examples.map((example) => RegistryWrite.parse(example))
  expect([...new Set(parsed.map(({ type }) => type))].sort()).toEqual([...registryTypes].sort())
})
