import { describe, expect, test } from 'vitest'
import { code, findRetired, identifiers, prose, words } from './retired-words.ts'

describe('the vocabulary', () => {
  test('is read from all code, documents and texts', () => {
    expect(code.length).toBeGreaterThan(1_000)
    expect(prose.length).toBeGreaterThan(40)
  })

  test('finds a retired name and a retired word, and says what to write', () => {
    const file = { path: 'a.ts', text: 'const narrator = createNarrator()\n// It begins anew.' }
    expect(findRetired([file], [...identifiers, ...words])).toEqual([
      'a.ts:1 "narrator": write progressReporter, ProgressReporter',
      'a.ts:1 "narrator": write progress reporter',
      'a.ts:1 "createNarrator": write progressReporter, ProgressReporter',
      'a.ts:2 "anew": write again',
    ])
  })

  test('has no retired name in the code', () => {
    expect(findRetired(code, identifiers)).toEqual([])
  })

  test('has no retired word in code, documents and texts', () => {
    expect(findRetired([...code, ...prose], words)).toEqual([])
  })
})
