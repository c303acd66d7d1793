import { expect, it } from 'vitest'
import { isTypedName } from './typed-name.ts'

it.each([
  ['acme', 'acme'],
  [' acme ', 'acme'],
  ['two spaces', 'two  spaces'],
  ['Gro\u0308ße', 'Gr\u00f6ße'],
])('"%s" is the name "%s" as a user sees it', (typed, name) => {
  expect(isTypedName(typed, name)).toBe(true)
})

it.each([
  ['', 'acme'],
  ['Acme', 'acme'],
  ['twospaces', 'two  spaces'],
])('"%s" is not the name "%s"', (typed, name) => {
  expect(isTypedName(typed, name)).toBe(false)
})
