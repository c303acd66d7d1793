import { describe, expect, test } from 'vitest'
import { EngineError } from '../errors.ts'
import { retryWhileUnavailable, type WaitReport } from './retry-while-unavailable.ts'

const away = new EngineError('unavailable', 'The Kubernetes API server does not answer (ECONNREFUSED)')
const webhook = new EngineError('webhook-unavailable', 'The cluster could not create the Ingress web')
const forever = new AbortController().signal

/** A clock that goes on by a time at each question, and what was reported at which instance. */
function makeReport(stepMs: number) {
  const lines: string[] = []
  let time = 0
  const write = (instanceId: string, ...texts: string[]) => {
    for (const text of texts) lines.push(`${instanceId}: ${text}`)
  }
  const progressReporter: WaitReport['progressReporter'] = { info: write, warn: write }
  const now = () => {
    time += stepMs
    return time
  }
  return { lines, report: { progressReporter, instanceId: 'web' }, now }
}

/** Work that fails with these errors, one after another, and then succeeds. */
function failing(...errors: Error[]) {
  const left = [...errors]
  return async () => {
    const error = left.shift()
    if (error) throw error
    return 'done'
  }
}

describe('work that is repeated while the engine is unavailable', () => {
  test('reports one line when the wait takes long, and one when the cluster answers again', async () => {
    const { lines, now, report } = makeReport(6_000)
    expect(await retryWhileUnavailable(failing(away, away, away), forever, report, now)).toBe('done')
    expect(lines).toEqual([
      'web: The Kubernetes API server does not answer (ECONNREFUSED): trying again until it does',
      'web: the cluster answers again',
    ])
  })

  test('reports nothing of a short interruption', async () => {
    const { lines, now, report } = makeReport(1)
    expect(await retryWhileUnavailable(failing(away, away), forever, report, now)).toBe('done')
    expect(lines).toEqual([])
  })

  test('reports once where several works of an instance wait', async () => {
    const { lines, now, report } = makeReport(6_000)
    await Promise.all(
      [failing(away), failing(away, away)].map((work) => retryWhileUnavailable(work, forever, report, now)),
    )
    expect(lines.length).toBe(2)
  })

  test('reports no answer of the cluster when the wait is cancelled', async () => {
    const { lines, now, report } = makeReport(6_000)
    const ending = new AbortController()
    const work = async () => {
      if (lines.length > 0) ending.abort(new Error('cancelled'))
      throw away
    }
    await expect(retryWhileUnavailable(work, ending.signal, report, now)).rejects.toThrow()
    expect(lines.length).toBe(1)
  })

  test('goes on when an admission webhook answers within a short time', async () => {
    const { lines, now, report } = makeReport(1)
    expect(await retryWhileUnavailable(failing(webhook), forever, report, now)).toBe('done')
    expect(lines).toEqual([
      'web: The cluster could not create the Ingress web: trying again for 20 s',
      'web: the cluster answers again',
    ])
  })

  test('ends with the error of an admission webhook that does not answer', async () => {
    const { lines, now, report } = makeReport(6_000)
    const endless = () => Promise.reject(webhook)
    await expect(retryWhileUnavailable(endless, forever, report, now)).rejects.toBe(webhook)
    expect(lines.length).toBe(1)
    await expect(retryWhileUnavailable(endless, forever, undefined, now)).rejects.toBe(webhook)
  })
})
