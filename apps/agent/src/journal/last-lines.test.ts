import { expect, test } from 'vitest'
import { getLastLines } from './last-lines.ts'

const make = (text: string, count: number) => Array.from({ length: count }, (_, index) => ({ text, index }))

test('the last lines of a log fit into one message whatever they contain', () => {
  const short = make('short', 1_000)
  expect(getLastLines(short)).toEqual(short)
  // Bytes that are not UTF-8 become three bytes each.
  const long = getLastLines([...make('\ufffd'.repeat(80_000), 999), { text: 'the end', index: 999 }])
  expect(long.at(-1)).toEqual({ text: 'the end', index: 999 })
  expect(long.length).toBeGreaterThan(30)
  expect(long.at(-2)).toMatchObject({ index: 998, text: expect.stringMatching(/… \(cut\)$/) })
  expect(Buffer.byteLength(long.map(({ text }) => text).join(''))).toBeLessThan(7 * 1_048_576)
})
