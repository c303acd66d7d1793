import type { DeploymentEvent } from '@crux/contract'
import { expect, it } from 'vitest'
import { plainText } from '../../components/log-viewer/terminal-text.ts'
import { releaseLines } from './release-lines.ts'

const makeEvent = (
  sequence: number,
  ms: number,
  rest: Partial<DeploymentEvent> & Pick<DeploymentEvent, 'type'>,
): DeploymentEvent => ({
  try: 1,
  sequence,
  createdAt: new Date(1_700_000_000_000 + ms).toISOString(),
  instanceId: 'i1',
  ...rest,
})
const phase = (
  sequence: number,
  ms: number,
  name: 'pull' | 'verify',
  state: 'running' | 'done' | 'failed',
  detail?: string,
) => makeEvent(sequence, ms, { type: 'phase', phase: { instanceId: 'i1', phase: name, state, detail } })

it('merges steps with sizes and times into the log lines of agent and containers', () => {
  const events = [
    makeEvent(1, 0, { type: 'log', instanceId: null, log: { log: ['Started by Ada'], level: 'info' } }),
    phase(2, 0, 'pull', 'running'),
    makeEvent(3, 900, {
      type: 'container-progress',
      containerProgress: { instanceId: 'i1', status: 'Pulling', progress: 1, currentBytes: 5, totalBytes: 61_000_000 },
    }),
    phase(4, 1_300, 'pull', 'done'),
    phase(5, 1_300, 'verify', 'running', 'runs for 1 s'),
    phase(6, 2_000, 'verify', 'failed', 'exited with 3'),
    makeEvent(7, 2_100, {
      type: 'log',
      log: { log: ['cannot open the database'], level: 'error', fromContainer: true },
    }),
    makeEvent(8, 2_200, {
      type: 'deployment-status',
      instanceId: null,
      deploymentStatus: 'failed',
      reason: 'api exited with 3',
    }),
  ]
  const lines = releaseLines(
    events,
    () => 'api',
    (key, values) => `${key} ${Object.values(values).join(' ')}`.trim(),
  )
  expect(lines.map((line) => plainText(line.text))).toEqual([
    'Started by Ada',
    'pulling api',
    'pulledSized api 61.0 MB 1.3 s',
    'verifying api runs for 1 s',
    'cannot open the database',
    'endedWith api exited with 3',
  ])
  expect(lines.map((line) => line.level ?? '-')).toEqual(['info', '-', '-', '-', 'error', 'error'])
  expect(lines[4]).toMatchObject({ fromContainer: true, instanceId: 'i1' })
})

it('names no time for a pull that was reported only at its end', () => {
  const lines = releaseLines(
    [phase(1, 500, 'pull', 'done')],
    () => 'api',
    (key, values) => `${key} ${Object.values(values).join(' ')}`.trim(),
  )
  expect(lines.map((line) => line.text)).toEqual(['pulledUntimed api'])
})
