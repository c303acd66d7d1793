import { expect, it } from 'vitest'
import { rateLimited, secondsToWait } from './rate-limit.ts'

const now = Date.parse('2026-05-06T07:08:00Z')
const epoch = now / 1_000

it.each<[string, Record<string, string>, number | undefined]>([
  ['a delay in seconds', { 'retry-after': '17' }, 17],
  ['a date', { 'retry-after': 'Wed, 06 May 2026 07:09:30 GMT' }, 90],
  ['the time of Docker Hub', { 'x-retry-after': String(epoch + 30) }, 30],
  ['the reset of GitHub', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(epoch + 600) }, 600],
  ['the reset of GitLab', { 'ratelimit-reset': String(epoch + 60) }, 60],
  ['a reset as a delay', { 'ratelimit-reset': '45' }, 45],
  ['the window of the registry of Docker Hub', { 'ratelimit-limit': '100;w=21600' }, 21_600],
  ['a time that has passed', { 'x-retry-after': String(epoch - 30) }, 1],
  ['an absurd delay', { 'retry-after': '99999999' }, 86_400],
  ['nothing', {}, undefined],
  ['no number', { 'retry-after': 'soon' }, undefined],
])('the seconds to wait are read from %s', (_, headers, seconds) => {
  expect(secondsToWait(headers, now)).toBe(seconds)
})

it('the headers of GitHub distinguish an exhausted limit from missing rights', () => {
  const headers = { 'x-ratelimit-remaining': '0', 'retry-after': '300' }
  expect(rateLimited({ status: 403, headers }, 'api.github.com')).toMatchObject({
    code: 'registryRateLimit',
    retryAfterS: 300,
    message: 'api.github.com answers that there were too many requests. Try again in 5 minutes.',
  })
  expect(rateLimited({ status: 403, headers: { 'x-ratelimit-remaining': '59' } }, 'api.github.com')).toBeUndefined()
  expect(rateLimited({ status: 200, headers }, 'api.github.com')).toBeUndefined()
})
