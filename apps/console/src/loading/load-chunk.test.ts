import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { loadChunk } from './load-chunk.ts'

const gone = new TypeError('Failed to fetch dynamically imported module')
let reload: ReturnType<typeof vi.fn>

beforeEach(() => {
  vi.useFakeTimers()
  reload = vi.fn()
  const kept = new Map<string, string>()
  vi.stubGlobal('location', { reload })
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it('requests a chunk again after a network change aborted it twice, without a reload of the page', async () => {
  const load = vi.fn<() => Promise<string>>().mockRejectedValueOnce(gone).mockRejectedValueOnce(gone)
  load.mockResolvedValue('part')
  const loaded = loadChunk(load)
  await vi.runAllTimersAsync()
  expect(await loaded).toBe('part')
  expect(load).toHaveBeenCalledTimes(3)
  expect(reload).not.toHaveBeenCalled()
})

it('reloads the page for a missing chunk, and throws if it is missing after the reload', async () => {
  const load = () => Promise.reject(gone)
  void loadChunk(load)
  await vi.runAllTimersAsync()
  expect(reload).toHaveBeenCalledTimes(1)
  const again = expect(loadChunk(load)).rejects.toBe(gone)
  await vi.runAllTimersAsync()
  await again
  expect(reload).toHaveBeenCalledTimes(1)
})
