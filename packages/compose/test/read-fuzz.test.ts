import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ReadInput, readCompose } from '../src/index.ts'
import { limits } from '../src/read/limits.ts'
import { listCorpusCases } from './read-corpus.ts'

/** Every run reads the same; CRUX_TEST_SEED sets another seed. A failure names the files, reduced to a minimum. */
const seed = Number(process.env.CRUX_TEST_SEED ?? 20_261_123)
const numRuns = process.env.CRUX_TEST_FULL ? 20_000 : 500

const inputs = listCorpusCases().map(({ input }) => input)
const pieces = [
  ...[
    '\n',
    '  ',
    '\t',
    ': ',
    '- ',
    '? ',
    '{',
    '}',
    '[',
    ']',
    ',',
    '&a ',
    '*a',
    '<<: *a',
    '!reset ',
    '!override ',
    '|\n',
    '>',
    '"',
    "'",
  ],
  ...[
    '#',
    '---\n',
    '%YAML 1.1\n',
    '${',
    '}',
    '$',
    '$$',
    '${A:-',
    '${A:?',
    '\0',
    '\uFEFF',
    '\r',
    '=',
    'null',
    '0440',
    '1e999',
    '__proto__: ',
  ],
  ...['extends: a\n', 'include: [compose.yaml]\n', 'services:\n', 'env_file: .env\n', 'profiles: [x]\n'],
]

type Change = { at: number; remove: number; insert: string }
const change: fc.Arbitrary<Change> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  remove: fc.nat({ max: 12 }),
  insert: fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 6 })),
})

const applyChange = (text: string, { at, remove, insert }: Change) => {
  const start = Math.floor(at * text.length)
  return text.slice(0, start) + insert + text.slice(start + remove)
}

/** The files of a case of the corpus, or of two, with some changes. */
const mutated: fc.Arbitrary<ReadInput> = fc
  .tuple(
    fc.constantFrom(...inputs),
    fc.constantFrom(...inputs),
    fc.boolean(),
    fc.array(fc.tuple(fc.nat(), change), { maxLength: 8 }),
  )
  .map(([one, other, both, changes]) => {
    const files = [...one.files, ...(both ? other.files : [])].map((file) => ({ ...file }))
    const envFiles = [...one.envFiles, ...(both ? other.envFiles : [])].map((file) => ({ ...file }))
    const all = [...files, ...envFiles]
    for (const [index, each] of changes) {
      const file = all[index % all.length]
      if (file) file.text = applyChange(file.text, each)
    }
    return { files, envFiles, profiles: one.profiles ?? [] }
  })

test('mutated files are read without an exception, and every problem has a place and a sentence', () => {
  const outcomes = { documents: 0, problems: 0 }
  fc.assert(
    fc.property(mutated, (input) => {
      const { document, problems } = readCompose(input)
      const lines = new Map(
        [...input.files, ...input.envFiles].map(({ name, text }) => [name, text.split(/\r\n?|\n/).length]),
      )
      expect(problems.length).toBeLessThanOrEqual(limits.problems)
      for (const problem of problems) {
        expect(problem.message).toMatch(/[.?"`]$/)
        expect(problem.line).toBeGreaterThanOrEqual(1)
        expect(lines.has(problem.file)).toBe(true)
      }
      if (document) {
        outcomes.documents += 1
        expect(JSON.parse(JSON.stringify(document.value))).toEqual(document.value)
      }
      if (problems.length > 0) outcomes.problems += 1
    }),
    { numRuns, seed },
  )
  // Most mutations are small, so that both outcomes occur.
  expect(outcomes.documents).toBeGreaterThan(numRuns / 10)
  expect(outcomes.problems).toBeGreaterThan(numRuns / 10)
})
