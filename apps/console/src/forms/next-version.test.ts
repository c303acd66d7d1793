import { expect, it } from 'vitest'
import { nextVersion } from './next-version.ts'

it('increments the last number of a version name', () => {
  expect([nextVersion('1.4.2'), nextVersion('v9'), nextVersion('1.9')]).toEqual(['1.4.3', 'v10', '1.10'])
})

it('proposes no version name if the previous one ends without a number', () => {
  expect([nextVersion('rolling'), nextVersion('1.0.0-beta')]).toEqual(['', ''])
})
