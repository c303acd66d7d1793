import { expect, test } from 'vitest'
import { createImageClaims } from './claims.ts'

const image = { id: 'sha256:1', references: ['nginx:1', 'nginx@sha256:2'] }

test('a removal is refused for an image that is claimed by any spelling of its name or by its id until the claim ends', async () => {
  const claims = createImageClaims()
  for (const name of ['docker.io/library/nginx', 'nginx', 'sha256:1']) {
    const unclaim = await claims.claim(['other', name])
    expect(await claims.remove(image, () => Promise.reject(new Error('removed')))).toBe(name.replace(/.*\//, ''))
    unclaim()
    expect(await claims.remove(image, () => Promise.resolve())).toBeUndefined()
  }
})

test('a claim waits for the removals in progress including one that fails', async () => {
  const claims = createImageClaims()
  let fail: (error: Error) => void = () => undefined
  const order: string[] = []
  const removal = claims
    .remove(image, () => new Promise((_, reject) => (fail = reject)))
    .catch((error: Error) => order.push(error.message))
  const claim = claims.claim(['nginx']).then(() => order.push('claimed'))
  // The claim applies from the call, not only from its answer.
  expect(await claims.remove(image, () => Promise.resolve())).toBe('nginx')
  expect(order).toEqual([])
  fail(new Error('refused'))
  await Promise.all([removal, claim])
  expect(order).toEqual(['refused', 'claimed'])
})
