import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createSlots } from './slots.ts'

/** Work that runs until the test ends it. */
function makeWork() {
  const ends: (() => void)[] = []
  let started = 0
  return {
    get started() {
      return started
    },
    work: () => {
      started++
      return new Promise<void>((resolve) => ends.push(resolve))
    },
    endOne: () => ends.shift()?.(),
    fail: () => Promise.reject(new Error('down')),
  }
}

describe('the slots of a registry', () => {
  it('run as much work at a time as there are slots, and the rest in order', async () => {
    const run = createSlots(2)
    const one = makeWork()
    const all = Array.from({ length: 5 }, () => run('r', one.work))
    await setImmediate()
    expect(one.started).toBe(2)
    for (let ended = 1; ended <= 5; ended++) {
      one.endOne()
      await setImmediate()
      expect(one.started).toBe(Math.min(5, 2 + ended))
    }
    await Promise.all(all)
  })

  it('of one registry do not delay another registry', async () => {
    const run = createSlots(1)
    const [slow, quick] = [makeWork(), makeWork()]
    const first = run('slow', slow.work)
    const second = run('quick', quick.work)
    quick.endOne()
    await second
    slow.endOne()
    await first
  })

  it('are free again after work that failed', async () => {
    const run = createSlots(1)
    const one = makeWork()
    await expect(run('r', one.fail)).rejects.toThrow('down')
    expect(await run('r', async () => 'done')).toBe('done')
  })

  it('refuse work that waited for too long, and work while too much waits', async () => {
    let now = 0
    const run = createSlots(1, () => now)
    const one = makeWork()
    const first = run('r', one.work)
    const waiting = Array.from({ length: 500 }, () => run('r', one.work).catch((error: unknown) => error))
    await expect(run('r', one.work)).rejects.toMatchObject({ code: 'tooManyRequests', retryAfterS: 5 })
    now = 10_001
    one.endOne()
    await first
    for (const refused of await Promise.all(waiting)) expect(refused).toMatchObject({ code: 'tooManyRequests' })
    expect(one.started).toBe(1)
    expect(await run('r', async () => 'done')).toBe('done')
  })
})
