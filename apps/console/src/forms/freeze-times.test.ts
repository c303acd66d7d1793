import { expect, it } from 'vitest'
import { isUnfinished, type Window } from './freeze-times.ts'

const stored = { id: 'w', reason: 'Release week', createdAt: '2026-01-01T00:00:00Z' }
const once = (to: string): Window => ({ ...stored, kind: 'once', from: '2026-01-01T00:00:00Z', to })
const now = Date.parse('2026-11-25T10:00:00Z')

it('a window that has ended keeps nobody from deleting its environment, and every other one does', () => {
  expect(isUnfinished(once('2026-11-25T10:00:00Z'), now)).toBe(false)
  expect(isUnfinished(once('2026-11-25T10:00:01Z'), now)).toBe(true)
  // The server freezes while a window cannot be evaluated.
  expect(isUnfinished(once(''), now)).toBe(true)
  expect(isUnfinished({ ...stored, kind: 'weekly', days: [1], from: '09:00', to: '10:00', timeZone: 'UTC' }, now)).toBe(
    true,
  )
})
