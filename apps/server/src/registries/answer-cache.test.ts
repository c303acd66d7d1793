import { describe, expect, it, vi } from 'vitest'
import { createAnswerCache } from './answer-cache.ts'

const size = (list: string[]) => list.join('').length

describe('the cache of lists', () => {
  it('reads a list once for all callers, and again after its time', async () => {
    let now = 0
    const cache = createAnswerCache(1_000, size, () => now)
    const read = vi.fn(async () => ['a'])
    await Promise.all([cache.load('k', read), cache.load('k', read)])
    now = 9_999
    await cache.load('k', read)
    expect(read).toHaveBeenCalledTimes(1)
    now = 10_000
    await cache.load('k', read)
    expect(read).toHaveBeenCalledTimes(2)
  })

  it('keeps a list longer that took long to read', async () => {
    let now = 0
    const cache = createAnswerCache(1_000, size, () => now)
    const slow = async () => {
      now = 3_000
      return ['a']
    }
    await cache.load('k', slow)
    now = 62_000
    expect(cache.has('k')).toBe(true)
    now = 63_000
    expect(cache.has('k')).toBe(false)
  })

  it('removes the list that was not used for the longest time when they are too large together', async () => {
    const cache = createAnswerCache(10, size, () => 0)
    const load = (key: string) => cache.load(key, async () => ['12345'])
    await load('a')
    await load('b')
    await load('a')
    await load('c')
    expect([cache.has('a'), cache.has('b'), cache.has('c'), cache.bytes]).toEqual([true, false, true, 10])
  })

  it('does not keep a list that is larger than all of it', async () => {
    const cache = createAnswerCache(10, size, () => 0)
    expect(await cache.load('k', async () => ['12345678901'])).toHaveLength(1)
    expect([cache.has('k'), cache.bytes]).toEqual([false, 0])
  })

  it('keeps neither a failure nor a list that was dropped while it was read', async () => {
    const cache = createAnswerCache(1_000, size, () => 0)
    await expect(cache.load('k', () => Promise.reject(new Error('down')))).rejects.toThrow('down')
    const reading = Promise.withResolvers<string[]>()
    const loading = cache.load('k', () => reading.promise)
    cache.delete('k')
    reading.resolve(['old'])
    expect(await loading).toEqual(['old'])
    expect([cache.has('k'), cache.bytes]).toEqual([false, 0])
  })

  it('drops the lists whose keys match, and counts their memory no longer', async () => {
    const cache = createAnswerCache(1_000, size, () => 0)
    for (const key of ['web:1', 'web:2', 'db:1']) await cache.load(key, async () => ['12345'])
    cache.deleteMatching((key) => key.startsWith('web:'))
    expect([cache.has('web:1'), cache.has('web:2'), cache.has('db:1'), cache.bytes]).toEqual([false, false, true, 5])
  })
})
