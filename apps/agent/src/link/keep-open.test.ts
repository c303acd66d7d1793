import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { keepOpen } from './keep-open.ts'

async function read<T>(source: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = []
  for await (const value of source) seen.push(value)
  return seen
}

test('keepOpen sends a keep-alive while the source is quiet and every message of the source once and in order', async () => {
  async function* source() {
    yield 1
    yield 2
    await delay(120)
    yield 3
  }
  const seen = await read(keepOpen(source(), 'alive' as const, 30))
  expect(seen.filter((value) => value !== 'alive')).toEqual([1, 2, 3])
  expect(seen.slice(0, 3)).toEqual([1, 2, 'alive'])
  expect(seen.at(-1)).toBe(3)
})

test('keepOpen requests the next message of the source only when the last one was taken', async () => {
  let asked = 0
  async function* source() {
    for (;;) yield ++asked
  }
  const kept = keepOpen(source(), 'alive' as const, 10)
  await kept.next()
  await delay(50)
  expect(asked).toBe(1)
  await kept.return(undefined)
})

test('keepOpen fails when the source fails and ends the source when its reader stops', async () => {
  async function* failing() {
    yield 1
    throw new Error('the engine is away')
  }
  await expect(read(keepOpen(failing(), 'alive', 1_000))).rejects.toThrow('the engine is away')
  let ended = false
  async function* endless() {
    try {
      for (;;) yield 1
    } finally {
      ended = true
    }
  }
  for await (const _ of keepOpen(endless(), 'alive', 1_000)) break
  await delay(0)
  expect(ended).toBe(true)
})
