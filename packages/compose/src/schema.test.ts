import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { describeComposePath } from './schema.ts'

test('the validator is compiled from the schema', () => {
  const script = fileURLToPath(new URL('../scripts/write-validator.ts', import.meta.url))
  expect(() => execFileSync(process.execPath, [script, '--check'], { stdio: 'pipe' })).not.toThrow()
})

test('a service is described with its keys, those of all parts of the schema', () => {
  const names = describeComposePath(['services', 'web'])?.keys?.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['image', 'ports', 'deploy', 'healthcheck']))
})

test('a setting is described by its text, keys and values', () => {
  expect(describeComposePath(['services', 'web', 'image'])?.description).toContain('image')
  expect(describeComposePath(['services', 'web', 'depends_on', 'db', 'condition'])?.values).toContain('service_healthy')
  expect(describeComposePath(['services', 'web', 'ports', 0])?.keys?.map(({ name }) => name)).toContain('published')
  expect(describeComposePath(['services', 'web', 'tty'])?.values).toBeUndefined()
})

test('old keys are deprecated, and unknown paths have no description', () => {
  expect(describeComposePath([])?.keys?.find(({ name }) => name === 'version')?.deprecated).toBe(true)
  expect(describeComposePath(['services', 'web', 'imgae'])).toBeUndefined()
})
