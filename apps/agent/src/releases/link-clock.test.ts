import { describe, expect, test } from 'vitest'
import { AbortedError } from '../errors.ts'
import { createLinkClock } from './link-clock.ts'

const make = () => {
  let time = 0
  const clock = createLinkClock({ leaseMs: 60_000, now: () => time })
  return { clock, pass: (ms: number) => (time += ms) }
}
const settled = async (promise: Promise<unknown>) => {
  const pending = Symbol('pending')
  return (
    (await Promise.race([
      promise.then(() => 'done'),
      new Promise((resolve) => setImmediate(() => resolve(pending))),
    ])) === 'done'
  )
}

describe('the link clock of a deployment', () => {
  test('lets a deployment start a handover while the link is up and up to a minute after it was lost', async () => {
    const { clock, pass } = make()
    clock.up()
    pass(1_000_000)
    expect(await settled(clock.mayProceed(new AbortController().signal))).toBe(true)
    clock.down()
    pass(60_000)
    expect(await settled(clock.mayProceed(new AbortController().signal))).toBe(true)
  })

  test('blocks a handover after that minute until the link is up again', async () => {
    const { clock, pass } = make()
    clock.up()
    clock.down()
    pass(60_001)
    const waiting = clock.mayProceed(new AbortController().signal)
    expect(await settled(waiting)).toBe(false)
    clock.up()
    expect(await settled(waiting)).toBe(true)
  })

  test('ends the wait when the release is cancelled', async () => {
    const { clock, pass } = make()
    pass(60_001)
    const controller = new AbortController()
    const waiting = clock.mayProceed(controller.signal)
    controller.abort(new AbortedError('abandoned'))
    await expect(waiting).rejects.toThrow('no longer counts on this release')
  })
})
