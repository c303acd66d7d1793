import type { DeploymentEvent } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { countVerified, getShare, viewInstance } from './instance-view.ts'
import { addEvents, isUnderWay, noProgress } from './progress.ts'

const time = (ms: number) => new Date(1_700_000_000_000 + ms).toISOString()
const makeEvent = (sequence: number, ms: number, rest: Partial<DeploymentEvent> & Pick<DeploymentEvent, 'type'>) =>
  ({ try: 1, sequence, createdAt: time(ms), ...rest }) satisfies DeploymentEvent
const phase = (
  sequence: number,
  ms: number,
  name: 'resolve' | 'pull' | 'create' | 'start' | 'verify' | 'swap' | 'clean-up',
  state: 'running' | 'done' | 'skipped' | 'failed',
  detail?: string,
) => makeEvent(sequence, ms, { type: 'phase', phase: { instanceId: 'api', phase: name, state, detail } })

const release: DeploymentEvent[] = [
  makeEvent(1, 0, { type: 'deployment-status', deploymentStatus: 'in-progress' }),
  phase(2, 10, 'resolve', 'running'),
  phase(3, 100, 'resolve', 'done'),
  phase(4, 100, 'pull', 'running'),
  makeEvent(5, 500, {
    type: 'container-progress',
    containerProgress: { instanceId: 'api', status: 'Pulling', progress: 0.25, currentBytes: 25, totalBytes: 100 },
  }),
  phase(6, 1_400, 'pull', 'done'),
  phase(7, 1_400, 'create', 'running'),
  phase(8, 1_500, 'create', 'done'),
  phase(9, 1_500, 'start', 'running'),
  phase(10, 1_700, 'start', 'done'),
  phase(11, 1_700, 'verify', 'running', 'Waits for GET /healthz on 8080'),
]

describe('progress of a release', () => {
  it('is the same for any split, repetition and order of event lists', () => {
    const whole = addEvents(noProgress, release)
    const live = release.reduce((progress, event) => addEvents(progress, [event]), noProgress)
    const overtaking = addEvents(addEvents(addEvents(noProgress, release.slice(6)), release.slice(0, 8)), release)
    expect(live).toEqual(whole)
    expect(overtaking).toEqual(whole)
    expect(whole.events.map((event) => event.sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  })

  it('measures each phase, and counts resolving the digest as part of the pull', () => {
    const view = viewInstance(addEvents(noProgress, release).instances.api, 'in-progress')
    const [pull, create] = view.steps
    expect(pull && [pull.state, (pull.endedAt ?? 0) - (pull.startedAt ?? 0)]).toEqual(['done', 1_390])
    expect(create && (create.endedAt ?? 0) - (create.startedAt ?? 0)).toBe(100)
  })

  it('measures the pull by itself where it comes after the creation, and shows no step as running that is over', () => {
    const onCluster = [
      phase(1, 0, 'resolve', 'running'),
      phase(2, 100, 'resolve', 'done'),
      phase(3, 110, 'create', 'running'),
      phase(4, 150, 'create', 'done'),
      phase(5, 160, 'verify', 'running', '0 of 2 ready'),
      phase(6, 400, 'pull', 'running'),
      phase(7, 700, 'pull', 'done'),
    ]
    const view = (count: number) =>
      viewInstance(addEvents(noProgress, onCluster.slice(0, count)).instances.api, 'in-progress')
    expect(view(2)).toMatchObject({ word: 'resolve', current: { phase: 'pull', state: 'running' } })
    expect(view(3)).toMatchObject({ word: 'create', current: { phase: 'create' } })
    expect(view(3).steps[0]?.state).toBe('waiting')
    expect(view(5)).toMatchObject({ word: 'verify', current: { detail: '0 of 2 ready' } })
    expect(view(6).word).toBe('pull')
    const [pull] = view(7).steps
    expect(pull && [pull.state, (pull.endedAt ?? 0) - (pull.startedAt ?? 0)]).toEqual(['done', 300])
  })

  it('shows the reason for waiting during verification', () => {
    const view = viewInstance(addEvents(noProgress, release).instances.api, 'in-progress')
    expect([view.word, view.current?.detail]).toEqual(['verify', 'Waits for GET /healthz on 8080'])
  })

  it('shows pulled bytes', () => {
    const { instances } = addEvents(noProgress, release.slice(0, 5))
    const view = viewInstance(instances.api, 'in-progress')
    expect([view.word, view.steps[0]?.share, instances.api?.pull]).toEqual([
      'pull',
      0.25,
      { current: 25, total: 100, status: 'Pulling' },
    ])
  })

  it('shows the clean-up after a success as running, and counts it neither as progress nor as undone', () => {
    const success = [
      ...release,
      phase(12, 2_700, 'verify', 'done'),
      phase(13, 2_800, 'swap', 'done'),
      phase(14, 2_800, 'clean-up', 'running'),
      makeEvent(15, 2_800, { type: 'deployment-status', deploymentStatus: 'successful' }),
    ]
    const ended = addEvents(noProgress, success)
    const view = viewInstance(ended.instances.api, ended.status)
    expect([view.word, view.steps.at(-1)?.state, getShare([ended.instances.api])]).toEqual(['running', 'running', 1])
    expect([isUnderWay(ended), ended.endedAt]).toEqual([true, Date.parse(time(2_800))])
    const over = addEvents(ended, [phase(16, 5_000, 'clean-up', 'done')])
    expect(viewInstance(over.instances.api, over.status).steps.at(-1)?.state).toBe('done')
    expect([isUnderWay(over), over.endedAt]).toEqual([false, Date.parse(time(2_800))])
  })

  it('resets for a newer release and ignores an older one', () => {
    const first = addEvents(noProgress, release)
    const second = addEvents(first, [
      { ...makeEvent(1, 9_000, { type: 'deployment-status', deploymentStatus: 'in-progress' }), try: 2 },
    ])
    expect([second.try, second.events.length, second.instances]).toEqual([2, 1, {}])
    expect(addEvents(second, release)).toBe(second)
  })

  it('keeps the reason of a failure and the undone steps', () => {
    const failed = addEvents(noProgress, [
      ...release,
      phase(12, 3_000, 'verify', 'failed', 'exited with 1 after 0.3 s'),
      makeEvent(13, 3_200, { type: 'deployment-status', deploymentStatus: 'failed', reason: 'api exited with 1' }),
    ])
    expect([failed.status, failed.reason, (failed.endedAt ?? 0) - (failed.startedAt ?? 0)]).toEqual([
      'failed',
      'api exited with 1',
      3_200,
    ])
    expect(viewInstance(failed.instances.api, failed.status)).toMatchObject({
      word: 'failed',
      current: { phase: 'verify', detail: 'exited with 1 after 0.3 s' },
    })
    expect(viewInstance(failed.instances.web, failed.status).word).toBe('untouched')
  })

  it('keeps a release successful when its deployment becomes obsolete later', () => {
    const events = [
      ...release,
      makeEvent(12, 2_000, { type: 'deployment-status', deploymentStatus: 'successful' }),
      makeEvent(13, 90_000, { type: 'deployment-status', deploymentStatus: 'obsolete' }),
    ]
    const progress = addEvents(noProgress, events)
    expect([progress.status, (progress.endedAt ?? 0) - (progress.startedAt ?? 0)]).toEqual(['successful', 2_000])
  })

  it('counts a kept container as verified', () => {
    const kept = addEvents(noProgress, [
      phase(1, 0, 'pull', 'skipped'),
      phase(2, 0, 'create', 'skipped'),
      phase(3, 0, 'start', 'skipped'),
      phase(4, 0, 'verify', 'skipped'),
    ])
    expect(viewInstance(kept.instances.api, 'in-progress').word).toBe('unchanged')
    expect(countVerified([kept.instances.api, undefined])).toBe(1)
    expect(getShare([kept.instances.api])).toBeCloseTo(4 / 5)
  })
})
