import { getEventListeners } from 'node:events'
import { createLogger } from '@crux/service-kit'
import { expect, test } from 'vitest'
import { runLink } from './link.ts'

test('a link leaves no listeners on the signal however often it reconnects', async () => {
  const stop = new AbortController()
  let tries = 0
  const heard: number[] = []
  const end = await runLink({
    credentials: {
      prepare: async () => {
        heard.push(getEventListeners(stop.signal, 'abort').length)
        if (++tries === 4) stop.abort()
        throw new Error('nobody there')
      },
    },
    connection: { reset: () => undefined },
    describe: () => ({}),
    log: createLogger({ name: 'test', level: 'silent' }),
    signal: stop.signal,
  } as unknown as Parameters<typeof runLink>[0])
  expect(end).toBe('stopped')
  expect(heard).toEqual([0, 0, 0, 0])
})
