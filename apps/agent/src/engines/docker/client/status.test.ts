import { expect, test } from 'vitest'
import { statusAt } from './status.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

test('the status text of a container ages as the engine would write it', () => {
  const up = (age: number) => statusAt('Up 3 seconds', { startedAt: 0, finishedAt: undefined }, age)
  expect(
    [-5, 999, second, 59 * second, minute, 2 * minute, 45 * minute, 89 * minute, 2 * hour, 47 * hour].map(up),
  ).toEqual([
    'Up Less than a second',
    'Up Less than a second',
    'Up 1 second',
    'Up 59 seconds',
    'Up About a minute',
    'Up 2 minutes',
    'Up 45 minutes',
    'Up About an hour',
    'Up 2 hours',
    'Up 47 hours',
  ])
  expect([2 * day, 14 * day, 60 * day, 800 * day].map(up)).toEqual([
    'Up 2 days',
    'Up 2 weeks',
    'Up 2 months',
    'Up 2 years',
  ])
})

test('the text around the age of a status is kept', () => {
  const at = (status: string) => statusAt(status, { startedAt: 0, finishedAt: minute }, 3 * minute)
  expect(at('Up 1 second (healthy)')).toBe('Up 3 minutes (healthy)')
  expect(at('Up About a minute (health: starting)')).toBe('Up 3 minutes (health: starting)')
  expect(at('Up 2 weeks (Paused)')).toBe('Up 3 minutes (Paused)')
  expect(at('Exited (137) Less than a second ago')).toBe('Exited (137) 2 minutes ago')
  expect(at('Restarting (1) 1 second ago')).toBe('Restarting (1) 2 minutes ago')
})

test('a status text without an age and one of a container without times are not changed', () => {
  const never = { startedAt: undefined, finishedAt: undefined }
  for (const status of ['Created', 'Dead', 'Removal In Progress', '', 'Up 2 hours', 'Exited (0) 1 second ago'])
    expect(statusAt(status, never, minute)).toBe(status)
  expect(statusAt('Created', { startedAt: 0, finishedAt: 0 }, minute)).toBe('Created')
})
