import { expect, it } from 'vitest'
import { nextVersion } from './next-version.ts'

it('counts the last number up', () => {
  expect([nextVersion('1.4.2'), nextVersion('v9'), nextVersion('1.9')]).toEqual(['1.4.3', 'v10', '1.10'])
})

it('proposes nothing where there is no number at the end', () => {
  expect([nextVersion('rolling'), nextVersion('1.0.0-beta')]).toEqual(['', ''])
})
