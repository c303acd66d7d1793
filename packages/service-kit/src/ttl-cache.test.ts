import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTtlCache, loadMany, loadShared } from './ttl-cache.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('a TTL cache', () => {
  test('returns a value until it is too old, and then only by peek', () => {
    const cache = createTtlCache<string, number>({ ttlMs: 1_000, max: 10 })
    cache.set('a', 1)
    cache.set('b', 2, { ttlMs: 5_000 })
    vi.advanceTimersByTime(999)
    expect([cache.get('a'), cache.get('b')]).toEqual([1, 2])
    vi.advanceTimersByTime(1)
    expect([cache.get('a'), cache.peek('a'), cache.get('b')]).toEqual([undefined, 1, 2])
  })

  test('removes the oldest entry when it is full', () => {
    const cache = createTtlCache<string, number>({ ttlMs: 1_000, max: 2 })
    cache.set('a', 1)
    cache.set('b', 2)
    cache.set('a', 3)
    cache.set('c', 4)
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([3, undefined, 4])
  })

  test('does not cache what does not exist', async () => {
    const cache = createTtlCache<string, number>({ ttlMs: 1_000, max: 10 })
    expect(await cache.load('a', async () => undefined)).toBeUndefined()
    expect(await cache.load('a', async () => 1)).toBe(1)
    expect(await cache.load('a', async () => 2)).toBe(1)
  })

  test.each([
    ['delete', (cache: ReturnType<typeof createTtlCache<string, number>>) => cache.delete('a')],
    ['deleteWhere', (cache: ReturnType<typeof createTtlCache<string, number>>) => cache.deleteWhere(() => false)],
    ['clear', (cache: ReturnType<typeof createTtlCache<string, number>>) => cache.clear()],
  ])('does not cache a value that was requested before a %s', async (_name, forget) => {
    const cache = createTtlCache<string, number>({ ttlMs: 1_000, max: 10 })
    const asked = Promise.withResolvers<number>()
    const loading = cache.load('a', () => asked.promise)
    forget(cache)
    asked.resolve(1)
    expect(await loading).toBe(1)
    expect(cache.peek('a')).toBeUndefined()
    expect(await cache.load('a', async () => 2)).toBe(2)
    expect(cache.get('a')).toBe(2)
  })
})

describe('loadShared', () => {
  test('reads once for all callers, and again after a failure', async () => {
    const cache = createTtlCache<string, Promise<number>>({ ttlMs: 1_000, max: 10 })
    const read = vi.fn(async () => 1)
    read.mockRejectedValueOnce(new Error('unavailable'))
    const failed = await Promise.allSettled([loadShared(cache, 'a', read), loadShared(cache, 'a', read)])
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await Promise.all([loadShared(cache, 'a', read), loadShared(cache, 'a', read)])).toEqual([1, 1])
    expect(read).toHaveBeenCalledTimes(2)
  })
})

describe('loadMany', () => {
  test('reads the missing values together, caches what does not exist, and returns old values after a failure', async () => {
    const cache = createTtlCache<string, string | null>({ ttlMs: 1_000, max: 10 })
    const onError = vi.fn()
    const read = vi.fn(async (missing: string[], report: (key: string, value: string | null) => void) => {
      for (const key of missing) report(key, key === 'none' ? null : key.toUpperCase())
    })
    expect(await loadMany(cache, ['a', 'none'], read, onError)).toEqual(new Map([['a', 'A']]))
    expect(await loadMany(cache, ['a', 'none', 'b'], read, onError)).toEqual(
      new Map([
        ['a', 'A'],
        ['b', 'B'],
      ]),
    )
    expect(read.mock.calls.map(([missing]) => missing)).toEqual([['a', 'none'], ['b']])
    vi.advanceTimersByTime(1_000)
    const failing = async () => Promise.reject(new Error('unavailable'))
    expect(await loadMany(cache, ['a', 'c'], failing, onError)).toEqual(new Map([['a', 'A']]))
    expect(onError).toHaveBeenCalledTimes(1)
  })

  test('returns but does not cache values that were requested before a deletion', async () => {
    const cache = createTtlCache<string, string | null>({ ttlMs: 1_000, max: 10 })
    const values = await loadMany(
      cache,
      ['a'],
      async (_missing, report) => {
        cache.delete('a')
        report('a', 'old')
      },
      () => undefined,
    )
    expect(values).toEqual(new Map([['a', 'old']]))
    expect(cache.peek('a')).toBeUndefined()
  })
})
