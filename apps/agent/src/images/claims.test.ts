import { expect, test } from 'vitest'
import { createImageClaims } from './claims.ts'

const image = { id: 'sha256:1', references: ['nginx:1', 'nginx@sha256:2'] }

test('refuses to remove what is claimed by a name of it, however that is written, or by its id, until it is let go', async () => {
  const claims = createImageClaims()
  for (const name of ['docker.io/library/nginx', 'nginx', 'sha256:1']) {
    const unclaim = await claims.claim(['other', name])
    expect(await claims.remove(image, () => Promise.reject(new Error('removed')))).toBe(name.replace(/.*\//, ''))
    unclaim()
    expect(await claims.remove(image, () => Promise.resolve())).toBeUndefined()
  }
})

test('lets a claim wait for the removals under way, also for one that fails', async () => {
  const claims = createImageClaims()
  let fail: (error: Error) => void = () => undefined
  const order: string[] = []
  const removal = claims
    .remove(image, () => new Promise((_, reject) => (fail = reject)))
    .catch((error: Error) => order.push(error.message))
  const claim = claims.claim(['nginx']).then(() => order.push('claimed'))
  // Already from the call on, not from its answer.
  expect(await claims.remove(image, () => Promise.resolve())).toBe('nginx')
  expect(order).toEqual([])
  fail(new Error('refused'))
  await Promise.all([removal, claim])
  expect(order).toEqual(['refused', 'claimed'])
})
