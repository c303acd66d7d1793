import { expect, test } from 'vitest'
import { describeSuccessorFailure } from './successor-failure.ts'

const running = { Status: 'running', Running: true, Restarting: false, ExitCode: 0 }

test.each([
  ['runs', running, 0, undefined],
  [
    'was created only',
    { ...running, Status: 'created', Running: false },
    0,
    'The container of the new agent was not started.',
  ],
  [
    'has ended',
    { ...running, Status: 'exited', Running: false, ExitCode: 7 },
    0,
    'The new agent ended at once with code 7.',
  ],
  [
    'is about to be started again',
    { ...running, Status: 'restarting', Restarting: true, ExitCode: 7 },
    1,
    'The new agent ended at once with code 7.',
  ],
  ['was started again', running, 1, 'The new agent ended at once and was started again.'],
])('the failure of a new agent whose container %s', (_, State, RestartCount, expected) => {
  expect(describeSuccessorFailure({ State, RestartCount })).toBe(expected)
})
