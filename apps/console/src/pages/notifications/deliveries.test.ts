import { expect, it } from 'vitest'
import { type Delivery, getRefetchMs } from './deliveries.ts'

const now = Date.parse('2026-01-01T10:00:00.000Z')
const delivery = (status: Delivery['status'], nextInMs?: number): Delivery => ({
  id: crypto.randomUUID(),
  event: 'test',
  text: '',
  createdAt: new Date(now).toISOString(),
  status,
  attempts: 1,
  nextAttemptAt: nextInMs === undefined ? null : new Date(now + nextInMs).toISOString(),
})

it('asks every two seconds while a delivery is due, and no faster', () => {
  expect(getRefetchMs([delivery('pending')], now)).toBe(2_000)
  expect(getRefetchMs([delivery('pending', -5_000), delivery('pending', 60_000)], now)).toBe(2_000)
})

it('waits for the next attempt, but at most 15 seconds', () => {
  expect(getRefetchMs([delivery('pending', 9_000), delivery('delivered')], now)).toBe(9_000)
  expect(getRefetchMs([delivery('pending', 3_600_000)], now)).toBe(15_000)
})

it('asks every 15 seconds where nothing is pending', () => {
  expect(getRefetchMs([], now)).toBe(15_000)
  expect(getRefetchMs([delivery('delivered'), delivery('failed'), delivery('skipped')], now)).toBe(15_000)
})
