import { describe, expect, it, vi } from 'vitest'
import { rateLimitError } from './api/rate-limit.ts'
import type { RegistryApi } from './api/registry-api.ts'
import { respectLimit } from './clients.ts'

const toApi = (catalog: () => Promise<string[]>): RegistryApi => ({
  check: async () => undefined,
  catalog,
  tags: async () => [],
  describe: async () => undefined,
  labels: async () => ({}),
  digest: async () => undefined,
  exposedPorts: async () => [],
})

describe('a registry that limits requests', () => {
  it('gets no request until its time is over, and the error has the time that is left', async () => {
    let now = 0
    const catalog = vi.fn(async () => ['a'])
    catalog.mockRejectedValueOnce(rateLimitError('hub.example.com', 60))
    const api = respectLimit(toApi(catalog), () => now)
    await expect(api.catalog()).rejects.toMatchObject({ retryAfterS: 60 })
    now = 45_000
    await expect(api.tags('x')).rejects.toMatchObject({
      code: 'registryRateLimit',
      retryAfterS: 15,
      message: 'hub.example.com answers that there were too many requests. Try again in 15 seconds.',
    })
    await expect(api.catalog()).rejects.toMatchObject({ retryAfterS: 15 })
    expect(catalog).toHaveBeenCalledTimes(1)
    now = 60_000
    expect(await api.catalog()).toEqual(['a'])
  })

  it('is asked again after 15 minutes, also where it named a longer time', async () => {
    let now = 0
    const catalog = vi.fn(async () => ['a'])
    catalog.mockRejectedValueOnce(rateLimitError('hub.example.com', 21_600))
    const api = respectLimit(toApi(catalog), () => now)
    await expect(api.catalog()).rejects.toMatchObject({ retryAfterS: 21_600 })
    now = 14 * 60_000
    await expect(api.catalog()).rejects.toMatchObject({ message: expect.stringContaining('6 hours') })
    now = 15 * 60_000
    expect(await api.catalog()).toEqual(['a'])
  })
})
