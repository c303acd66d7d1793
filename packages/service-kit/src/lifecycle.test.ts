import { expect, test } from 'vitest'
import { createLifecycle } from './lifecycle.ts'
import { createLogger } from './logger.ts'

const log = createLogger({ name: 'test', level: 'silent' })

test('a lifecycle runs its stop steps in reverse order, once, and continues when a step fails or hangs', async () => {
  const lifecycle = createLifecycle(log, { stepTimeoutMs: 30 })
  const done: string[] = []
  lifecycle.onStop('first', () => void done.push('first'))
  lifecycle.onStop('hangs', () => new Promise(() => undefined))
  lifecycle.onStop('fails', () => {
    throw new Error('no')
  })
  lifecycle.onStop('last', async () => void done.push('last'))
  await Promise.all([lifecycle.stop(), lifecycle.stop()])
  expect(done).toEqual(['last', 'first'])
})
