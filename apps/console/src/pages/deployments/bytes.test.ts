import { expect, it } from 'vitest'
import { bytesText, countBytes } from './bytes.ts'

it('formats sizes in decimal units', () => {
  expect([
    bytesText(0),
    bytesText(999),
    bytesText(76_123_000),
    bytesText(512_000_000),
    bytesText(2_400_000_000),
  ]).toEqual(['0 B', '999 B', '76.1 MB', '512 MB', '2.4 GB'])
  expect([countBytes(12_400_000, 76_100_000), countBytes(900_000, 76_100_000)]).toEqual([
    '12.4 of 76.1 MB',
    '900 kB of 76.1 MB',
  ])
})
