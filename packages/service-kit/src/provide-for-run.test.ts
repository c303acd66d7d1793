import { expect, test } from 'vitest'
import { getProvided, provideForRun } from './provide-for-run.ts'

test('a service of a test run starts once, when it is first asked for, and stops with the run', async () => {
  const calls: string[] = []
  const provided = await provideForRun('CRUX_TEST_PROVIDED', async () => {
    calls.push('start')
    return { text: 'the address', stop: async () => void calls.push('stop') }
  })
  expect(calls).toEqual([])
  const asked = [getProvided('CRUX_TEST_PROVIDED', 'service'), getProvided('CRUX_TEST_PROVIDED', 'service')]
  expect(await Promise.all(asked)).toEqual(['the address', 'the address'])
  await provided.stop()
  expect(calls).toEqual(['start', 'stop'])
  await expect(getProvided('CRUX_TEST_PROVIDED', 'service')).rejects.toThrow('no service is provided')
})

test('a service of a test run that does not start fails the tests that ask for it, with its error', async () => {
  const provided = await provideForRun('CRUX_TEST_PROVIDED', () => Promise.reject(new Error('no room')))
  await expect(getProvided('CRUX_TEST_PROVIDED', 'service')).rejects.toThrow(
    'the service of the tests does not start: Error: no room',
  )
  await provided.stop()
})
