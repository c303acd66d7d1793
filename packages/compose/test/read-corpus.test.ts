import { expect, test } from 'vitest'
import { readCompose } from '../src/index.ts'
import { listCorpusCases, summarizeResult } from './read-corpus.ts'

const cases = listCorpusCases()

test('the corpus has its cases', () => {
  expect(cases.length).toBeGreaterThan(40)
})

test.each(cases)('reads the case: $name', ({ input, expected, record }) => {
  const result = summarizeResult(readCompose(input))
  if (process.env.CRUX_RECORD_CORPUS) record(result)
  else expect(result).toEqual(expected)
})
