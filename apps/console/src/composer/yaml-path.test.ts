import { expect, test } from 'vitest'
import { findYamlCursor, findYamlKey } from './yaml-path.ts'

/** The cursor is at the `^`. */
function at(text: string) {
  const lines = text.split('\n')
  const line = lines.findIndex((one) => one.includes('^'))
  const column = lines[line]?.indexOf('^') ?? 0
  return { lines: lines.map((one) => one.replace('^', '')), line, column }
}
const cursor = (text: string) => {
  const { lines, line, column } = at(text)
  const found = findYamlCursor(lines, line, column)
  return found && { ...found, siblings: [...found.siblings].sort() }
}
const key = (text: string) => {
  const { lines, line, column } = at(text)
  return findYamlKey(lines, line, column)
}

test('finds the mapping of a key that is being typed, and the keys that it has', () => {
  expect(cursor('services:\n  web:\n    image: nginx\n    po^\n    restart: always\n  db:\n    image: x')).toEqual({
    path: ['services', 'web'],
    expects: 'key',
    typed: 'po',
    siblings: ['image', 'restart'],
  })
})

test('finds the mapping of an empty line by its indentation', () => {
  expect(cursor('services:\n  web:\n    image: nginx\n    ^')).toMatchObject({ path: ['services', 'web'], typed: '' })
  expect(cursor('services:\n  web:\n    image: nginx\n  ^')).toMatchObject({ path: ['services'], siblings: ['web'] })
  expect(cursor('services:\n  web:\n    image: nginx\n^')).toMatchObject({ path: [], siblings: ['services'] })
})

test('finds the path of a value that is being typed', () => {
  expect(cursor('services:\n  web:\n    restart: un^')).toMatchObject({
    path: ['services', 'web', 'restart'],
    expects: 'value',
    typed: 'un',
  })
})

test('counts the items of a list, also of one that is as far left as its key', () => {
  const file =
    'services:\n  web:\n    ports:\n      - target: 80\n        published: 1\n      - target: 81\n        mo^'
  expect(cursor(file)).toMatchObject({ path: ['services', 'web', 'ports', 1], typed: 'mo', siblings: ['target'] })
  expect(cursor('services:\n  web:\n    ports:\n    - target: 80\n    - ta^')).toMatchObject({
    path: ['services', 'web', 'ports', 1],
    typed: 'ta',
  })
  expect(cursor('services:\n  web:\n    ports:\n    - target: 80\n    ima^')).toMatchObject({
    path: ['services', 'web'],
  })
})

test('has no hints in comments, flow collections, quotes and block scalars', () => {
  expect(cursor('services:\n  # im^')).toBeNull()
  expect(cursor('services:\n  web: { im^')).toBeNull()
  expect(cursor('services:\n  web:\n    image: "ng^')).toBeNull()
  expect(cursor('services:\n  web:\n    command: |\n      im^')).toBeNull()
})

test('finds the key under the pointer, quoted and with an anchor above it', () => {
  expect(key('services:\n  "web": &base\n    im^age: nginx')).toEqual(['services', 'web', 'image'])
  expect(key('services:\n  web:\n    image: ngi^nx')).toBeNull()
  expect(key('services:\n  web:\n    depends_on:\n      db:\n        cond^ition: service_healthy')).toEqual([
    'services',
    'web',
    'depends_on',
    'db',
    'condition',
  ])
})
