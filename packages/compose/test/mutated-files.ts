import fc from 'fast-check'
import type { ReadInput } from '../src/model.ts'
import { listConvertCases } from './convert-corpus.ts'
import { listCorpusCases } from './read-corpus.ts'

const inputs = [...listCorpusCases(), ...listConvertCases()].map(({ input }) => input)
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

/** The files of a case of either corpus, or of two cases, with some changes. */
export const mutatedFiles: fc.Arbitrary<ReadInput> = fc
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
