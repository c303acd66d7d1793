import { describe, expect, it } from 'vitest'
import { failureCause, rollBackTarget, toSentence } from './release-failure.ts'

describe('failureCause', () => {
  it.each([
    [undefined, 'port 18311 is taken by shop-web: choose another port or stop it', { kind: 'port', port: 18311 }],
    ['start', 'port 80 is taken by another process of the machine', { kind: 'port', port: 80 }],
    ['resolve', 'registry/app:9 was not found in the registry', { kind: 'tag' }],
    ['pull', 'the registry cannot be reached', { kind: 'other' }],
    [
      'pull',
      'Docker does not trust the certificate of r/app:2 (Docker: x509: signed by unknown authority)',
      { kind: 'other' },
    ],
    ['verify', 'shop-web stopped right after its start: exit code 3', { kind: 'container' }],
    ['create', 'the engine does not answer', { kind: 'other' }],
  ] as const)('reads a failure in %s with "%s"', (phase, reason, cause) => {
    expect(failureCause(phase, reason)).toEqual(cause)
  })
})

describe('rollBackTarget', () => {
  const release = (number: number, status = 'successful', current = false) => ({ number, status, current })
  const releases = [release(6, 'failed'), release(5, 'successful', true), release(4), release(3)]

  it('is undefined while the previous release is running', () => {
    const failure = { number: 6, previousRestored: true, isRunning: true }
    expect(rollBackTarget(releases, failure)).toBeUndefined()
    expect(rollBackTarget(releases, { ...failure, previousRestored: null })).toBeUndefined()
  })

  it('is the release that ran before if it was not restored', () => {
    expect(rollBackTarget(releases, { number: 6, previousRestored: false, isRunning: true })?.number).toBe(5)
  })

  it('is the last successful release if nothing is running', () => {
    const stopped = [release(3, 'failed'), release(2), release(1)]
    expect(rollBackTarget(stopped, { number: 3, previousRestored: null, isRunning: false })?.number).toBe(2)
  })
})

describe('toSentence', () => {
  it('capitalizes the first letter', () => {
    expect(toSentence('port 18311 is taken by web', [])).toBe('Port 18311 is taken by web')
  })
  it('does not capitalize names', () => {
    expect(toSentence('shop-web stopped: exit code 3', [])).toBe('shop-web stopped: exit code 3')
    expect(toSentence('web stopped: exit code 3', ['web'])).toBe('web stopped: exit code 3')
    expect(toSentence('localhost:5000/app: not found', [])).toBe('localhost:5000/app: not found')
  })
})
