import { CruxError } from '@crux/contract'
import type { OutboundResponse } from '@crux/service-kit'

/** A longer delay is not believed: a wrong clock or a hostile registry must not block a registry for weeks. */
const secondsMax = 24 * 60 * 60

/** The error for an answer that refuses further requests for a while, with the seconds until the next one; undefined for other answers. */
export function rateLimited(
  { status, headers }: Pick<OutboundResponse, 'status' | 'headers'>,
  host: string,
): CruxError | undefined {
  // GitHub refuses with 403 as well, and tells it from missing rights by these headers.
  const exhausted = String(headers['x-ratelimit-remaining'] ?? '') === '0' || headers['retry-after'] !== undefined
  if (status !== 429 && !(status === 403 && exhausted)) return undefined
  const retryAfterS = secondsToWait(headers)
  const later = retryAfterS === undefined ? 'later' : `in ${durationText(retryAfterS)}`
  return new CruxError('registryRateLimit', {
    property: 'registryRateLimit',
    description: `${host} answers that there were too many requests. Try again ${later}.`,
    ...(retryAfterS !== undefined && { retryAfterS }),
  })
}

/**
 * The seconds until a registry accepts requests again. Services name them differently: `Retry-After` has seconds or a date, `X-Retry-After` of
 * Docker Hub and `…RateLimit-Reset` of Docker Hub, GitHub and GitLab the time in seconds since 1970, and the registry of Docker Hub only the
 * window of its limit (`RateLimit-Limit: 100;w=21600`).
 */
export function secondsToWait(headers: OutboundResponse['headers'], now = Date.now()): number | undefined {
  const text = (name: string) => [headers[name] ?? ''].flat()[0]?.trim() ?? ''
  const after = text('retry-after')
  const window = /;\s*w=(\d+)/.exec(text('ratelimit-limit'))?.[1]
  const candidates = [
    /^\d+$/.test(after) ? Number(after) : (Date.parse(after) - now) / 1_000,
    ...['x-retry-after', 'x-ratelimit-reset', 'ratelimit-reset'].map((name) => fromEpoch(text(name), now)),
    window === undefined ? Number.NaN : Number(window),
  ]
  const seconds = candidates.find((candidate) => Number.isFinite(candidate))
  return seconds === undefined ? undefined : Math.min(Math.max(Math.ceil(seconds), 1), secondsMax)
}

function fromEpoch(text: string, now: number): number {
  if (!/^\d+$/.test(text)) return Number.NaN
  const value = Number(text)
  // A number that is too small for a time is a delay (draft of the RateLimit headers).
  return value < 1_000_000_000 ? value : value - now / 1_000
}

function durationText(seconds: number): string {
  if (seconds < 120) return `${seconds} seconds`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`
}
