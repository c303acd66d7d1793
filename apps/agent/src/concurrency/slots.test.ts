import { expect, test } from 'vitest'
import { Slots } from './slots.ts'

const never = () => new Promise<void>(() => undefined)

test('work that leaves its slot before its end lets the next one start', async () => {
  const slots = new Slots(1)
  const over = Promise.withResolvers<void>()
  const first = slots.run(async (leave) => {
    leave()
    await over.promise
  })
  await expect(slots.run(async () => 'second')).resolves.toBe('second')
  over.resolve()
  await first
  // The slot was left early and the work then ended, but it is freed only once.
  void slots.run(never)
  const waiting = new AbortController()
  let begun = false
  const third = slots.run(async () => {
    begun = true
  }, waiting.signal)
  await new Promise((resolve) => setImmediate(resolve))
  expect(begun).toBe(false)
  waiting.abort()
  await third
})

test('work that is aborted stops waiting and takes no slot from other work', async () => {
  const slots = new Slots(1)
  const holding = Promise.withResolvers<void>()
  const held = slots.run(() => holding.promise)
  const giving = new AbortController()
  const given = slots.run(async () => 'ended', giving.signal)
  const order: string[] = []
  const next = slots.run(async () => order.push('next'))
  giving.abort()
  await expect(given).resolves.toBe('ended')
  expect(order).toEqual([])
  holding.resolve()
  await Promise.all([held, next])
  expect(order).toEqual(['next'])
})
