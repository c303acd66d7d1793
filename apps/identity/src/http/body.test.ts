import { expect, it } from 'vitest'
import { readBody } from './body.ts'

const json = (text: string) => readBody(text, 'application/json; charset=utf-8')
const form = (text: string) => readBody(text, 'application/x-www-form-urlencoded')

it('readBody converts dotted names to objects, in JSON and in forms', () => {
  const fields = { traits: { email: 'a@b.c', name: { first: 'Ada', last: 'Byron' } } }
  expect(json('{"traits":{"email":"a@b.c"},"traits.name.first":"Ada","traits.name.last":"Byron"}')).toEqual({
    ok: true,
    fields,
  })
  expect(form('traits.email=a%40b.c&traits.name.first=Ada&traits.name.last=Byron')).toEqual({ ok: true, fields })
})

it('readBody keeps brackets and quotes inside strings', () => {
  const text = `${'[{"'.repeat(100)}\\`
  expect(json(JSON.stringify({ password: text }))).toEqual({ ok: true, fields: { password: text } })
})

it('readBody removes names that would reach a prototype, at any depth', () => {
  const read = json('{"__proto__":{"a":1},"x.__proto__.a":1,"y":{"constructor":{"a":1},"z":1}}')
  expect(read).toEqual({ ok: true, fields: { y: { z: 1 } } })
  expect({}).not.toHaveProperty('a')
})

it.each([
  '',
  '[]',
  '"text"',
  'null',
  '5',
  '{',
  '{"a":"\\u0000"}',
  '{"\\u0000":1}',
  '{"a":"\\udc00"}',
  `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`,
])('readBody returns the reason why it cannot read %j', (text) => {
  const read = json(text)
  expect(read).toEqual({ ok: false, reason: expect.stringMatching(/^The (request|body) /) })
})

it('readBody takes no longer for a body that is designed to be slow', () => {
  // The test measures processor time, so that a busy machine does not make it fail.
  const start = process.cpuUsage()
  for (const text of ['"\\'.repeat(32_000), '['.repeat(64_000), '{"":'.repeat(16_000), '\\"'.repeat(32_000)]) json(text)
  expect(process.cpuUsage(start).user / 1000).toBeLessThan(500)
})
