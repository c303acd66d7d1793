import { expect, it } from 'vitest'
import { parsePairs } from './parse-pairs.ts'

it('reads an .env file', () => {
  expect(parsePairs('# database\nexport URL="postgres://a=b"\n\nLOG_LEVEL=info\nEMPTY=')).toEqual([
    { key: 'URL', value: 'postgres://a=b' },
    { key: 'LOG_LEVEL', value: 'info' },
    { key: 'EMPTY', value: '' },
  ])
})

it('leaves a pasted word as the word that it is', () => {
  expect(parsePairs('LOG_LEVEL')).toEqual([])
  expect(parsePairs('A=1\nnot a pair')).toEqual([])
})
