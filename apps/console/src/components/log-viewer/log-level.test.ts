import { expect, it } from 'vitest'
import { getLevel } from './log-level.ts'

it.each([
  ['2026-01-05T07:08:09Z ERROR could not connect', 'error'],
  ['{"level":50,"msg":"no"}', 'error'],
  ['time=... level=error msg=x', 'error'],
  ['warn: redis not ready, retry 1 of 5', 'warn'],
  ['{"level":"warn","msg":"slow"}', 'warn'],
  ['listening on :8080', undefined],
  ['GET /assets/error-page.css 200', undefined],
])('reads the level of "%s"', (text, level) => {
  expect(getLevel(text)).toBe(level)
})
