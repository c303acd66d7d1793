import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatEnvFile, parseEnvFile } from './env-file.ts'

const read = (text: string) => Object.fromEntries(parseEnvFile(text).pairs.map(({ key, value }) => [key, value]))

describe('an .env file', () => {
  it('is parsed with comments, the prefix export and quotes', () => {
    const text = `# database
export URL="postgres://a=b"   # the main one

LOG_LEVEL=info # not debug
EMPTY=
HASH=a#b
SINGLE='no \\n escapes $HERE'
DOUBLE="tab\\there \\"quoted\\""
  SPACED = padded value\t
YAML: like this`
    expect(read(text)).toEqual({
      URL: 'postgres://a=b',
      LOG_LEVEL: 'info',
      EMPTY: '',
      HASH: 'a#b',
      SINGLE: 'no \\n escapes $HERE',
      DOUBLE: 'tab\there "quoted"',
      SPACED: 'padded value',
      YAML: 'like this',
    })
  })

  it('may have values over several lines, which count for the line number of a later problem', () => {
    const file = parseEnvFile('KEY="-----BEGIN\nabc\n-----END"\nwhat is this\nLAST=1\r\n')
    expect(file.pairs).toEqual([
      { key: 'KEY', value: '-----BEGIN\nabc\n-----END' },
      { key: 'LAST', value: '1' },
    ])
    expect(file.problems).toEqual([{ line: 4, text: 'what is this' }])
  })

  it('is parsed with an unclosed quote as text, and with the last of two values of a key', () => {
    expect(read('A="open\nB=1\nB=2')).toEqual({ A: '"open', B: '2' })
    expect(read('A="x" y')).toEqual({ A: '"x" y' })
  })

  it('is parsed to the same variables that were formatted', () => {
    const key = fc.stringMatching(/^[A-Z][A-Z0-9_]{0,12}$/)
    const value = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.stringMatching(/^["'`\\$# \n\r\tab=]{0,8}$/),
    )
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.record({ key, value }), { selector: (pair) => pair.key, maxLength: 5 }),
        (pairs) => {
          expect(parseEnvFile(formatEnvFile(pairs))).toEqual({ pairs, problems: [] })
        },
      ),
    )
  })
})
