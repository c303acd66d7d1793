import { describe, expect, it } from 'vitest'
import { createLogBuffer } from './log-buffer.ts'
import { createLogSearch, splitAtMatches } from './log-search.ts'

const make = (capacity: number, texts: string[]) => {
  const buffer = createLogBuffer({ capacity, schedule: () => {} })
  buffer.append(texts.map((text) => ({ at: 0, text })))
  return { buffer, search: createLogSearch(buffer) }
}

describe('log search', () => {
  it('ignores case and colours, and continues with new lines', () => {
    const { buffer, search } = make(10, ['GET /', 'Error: one', 'ok', '\u001b[31mERR\u001b[0mOR two'])
    search.advance('error')
    expect(search.matches).toEqual([2, 4])
    buffer.append([{ at: 0, text: 'another error' }])
    search.advance('error')
    expect(search.matches).toEqual([2, 4, 5])
  })

  it('drops matches whose lines were removed', () => {
    const { buffer, search } = make(3, ['a1', 'a2', 'b'])
    search.advance('a')
    buffer.append([
      { at: 0, text: 'a4' },
      { at: 0, text: 'c' },
    ])
    search.advance('a')
    expect(search.matches).toEqual([4])
  })

  it('searches a long log in chunks and reports whether there is more', () => {
    const { search } = make(
      50_000,
      Array.from({ length: 45_000 }, (_, index) => (index % 1_000 === 0 ? 'hit' : 'miss')),
    )
    const more = [search.advance('hit'), search.advance('hit'), search.advance('hit')]
    expect(more).toEqual([true, true, false])
    expect(search.matches).toHaveLength(45)
  })

  it('restarts when the log was cleared', () => {
    const { buffer, search } = make(10, ['hit', 'hit'])
    search.advance('hit')
    buffer.clear()
    buffer.append([{ at: 0, text: 'hit' }])
    search.advance('hit')
    expect(search.matches).toEqual([1])
  })

  it('marks every match of a text', () => {
    expect(splitAtMatches('An ant and an anT', 'an')).toEqual([
      '',
      'An',
      ' ',
      'an',
      't ',
      'an',
      'd ',
      'an',
      ' ',
      'an',
      'T',
    ])
  })
})
