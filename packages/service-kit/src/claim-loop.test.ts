import { expect, it } from 'vitest'
import { createClaimLoop } from './claim-loop.ts'

it('claims until nothing is due', async () => {
  const due = [3, 2, 0, 9]
  const claimed: number[] = []
  const loop = createClaimLoop(async () => {
    const count = due.shift() ?? 0
    claimed.push(count)
    return count
  })
  await loop.run()
  expect(claimed).toEqual([3, 2, 0])
})

it('claims once more for calls during a claim, and never two at a time', async () => {
  let open = 0
  let claims = 0
  let release: () => void = () => undefined
  const loop = createClaimLoop(async () => {
    expect(++open).toBe(1)
    claims++
    await new Promise<void>((resolve) => {
      release = resolve
    })
    open--
    return 0
  })
  const all = [loop.run(), loop.run(), loop.run()]
  release()
  await new Promise(setImmediate)
  expect(claims).toBe(2)
  release()
  await Promise.all(all)
  expect(claims).toBe(2)
})

it('rejects when a claim fails, and works again after it', async () => {
  let claims = 0
  const loop = createClaimLoop(async () => {
    if (++claims === 1) throw new Error('away')
    return 0
  })
  await expect(loop.run()).rejects.toThrow('away')
  await loop.run()
  expect(claims).toBe(2)
})

it('claims nothing after its stop, which waits for the claim that runs', async () => {
  let claims = 0
  let ended = false
  const loop = createClaimLoop(async () => {
    claims++
    await new Promise(setImmediate)
    ended = true
    return 1
  })
  void loop.run()
  await loop.stop()
  expect([claims, ended]).toEqual([1, true])
  await loop.run()
  expect(claims).toBe(1)
})
