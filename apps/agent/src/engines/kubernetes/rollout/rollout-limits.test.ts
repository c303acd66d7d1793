import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeClusterObject } from '../../../../test/kit/cluster-object.ts'
import type { WorkloadObjects } from './judge.ts'
import { RolloutError } from './rollout-error.ts'
import { RolloutLimits } from './rollout-limits.ts'

const seconds = 1_000
const deadlineSeconds = 60

const toTemplate = (image: string) => ({ spec: { containers: [{ name: 'web', image }] } })
const ownedBy = (name: string) => [{ kind: 'Any', name, uid: `uid-${name}` }]
const creating = { waiting: { reason: 'ContainerCreating' } }

function makeSeen(input: {
  state?: object
  events?: { reason: string; container?: string }[]
  /** Whether a pod of the previous template is on its way out, before there is one of the new template. */
  isEnding?: boolean
  kind?: 'Deployment' | 'Job'
}): WorkloadObjects {
  const kind = input.kind ?? 'Deployment'
  const spec = {
    progressDeadlineSeconds: deadlineSeconds,
    strategy: { type: 'Recreate' },
    template: toTemplate('shop:2'),
  }
  const set = (name: string, image: string) =>
    makeClusterObject('ReplicaSet', name, { owners: ownedBy('web'), fields: { spec: { template: toTemplate(image) } } })
  const status = { containerStatuses: [{ name: 'web', state: input.state ?? creating }] }
  const next = makeClusterObject('Pod', 'new', {
    owners: ownedBy(kind === 'Job' ? 'web' : 'web-new'),
    fields: { status },
  })
  const previous = makeClusterObject('Pod', 'old', {
    owners: ownedBy('web-old'),
    deletedAt: new Date(0),
    fields: { spec: { terminationGracePeriodSeconds: 8 } },
  })
  return {
    workload: makeClusterObject(kind, 'web', { fields: { spec } }),
    replicaSets: [set('web-old', 'shop:1'), ...(input.isEnding ? [] : [set('web-new', 'shop:2')])],
    pods: [input.isEnding ? previous : next],
    events: (input.events ?? []).map(({ container = 'web', reason }, index) =>
      makeClusterObject('Event', `e${index}`, {
        fields: {
          reason,
          message: reason === 'Pulling' ? 'Pulling image "shop:2"' : '',
          involvedObject: { kind: 'Pod', name: 'new', uid: 'uid-new', fieldPath: `spec.containers{${container}}` },
        },
      }),
    ),
  }
}

const pulling = makeSeen({ events: [{ reason: 'Pulling' }] })
const pulled = makeSeen({ events: [{ reason: 'Pulling' }, { reason: 'Pulled' }] })

describe('the limits of a rollout', () => {
  const opened: RolloutLimits[] = []
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    for (const limits of opened.splice(0)) limits.close()
    vi.useRealTimers()
  })
  function open(kind: 'Deployment' | 'Job' = 'Deployment') {
    const limits = new RolloutLimits({ instanceId: 'web', object: { kind }, timeoutMs: 60_000, runMs: 30_000 })
    opened.push(limits)
    return limits
  }
  /** Whether the deadline of the cluster counts with these objects, which the limits have seen. */
  const counts = (limits: RolloutLimits, seen: WorkloadObjects) => {
    limits.observe(seen)
    return limits.countsDeadline(seen)
  }
  const getError = ({ signal }: RolloutLimits) => {
    expect(signal.reason).toBeInstanceOf(RolloutError)
    return signal.reason
  }

  test('count the deadline of the cluster where no image was pulled', () => {
    expect(counts(open(), makeSeen({ events: [{ reason: 'Pulled' }] }))).toBe(true)
  })

  test('give a container the whole time after the pull of its image', () => {
    const limits = open()
    limits.observe(pulling)
    vi.advanceTimersByTime(600 * seconds)
    expect(counts(limits, pulling)).toBe(false)
    expect(counts(limits, pulled)).toBe(false)
    vi.advanceTimersByTime(59 * seconds)
    expect(counts(limits, pulled)).toBe(false)
    vi.advanceTimersByTime(1 * seconds)
    expect(limits.countsDeadline(pulled)).toBe(true)
    expect(limits.signal.aborted).toBe(false)
  })

  test('give it the whole time too when the pull ended while nothing looked, as in a restart of the agent', () => {
    const limits = open()
    expect(counts(limits, pulled)).toBe(false)
    vi.advanceTimersByTime(60 * seconds)
    expect(counts(limits, pulled)).toBe(true)
  })

  test.each([
    [
      'its container runs, whose events were lost',
      makeSeen({ state: { running: {} }, events: [{ reason: 'Pulling' }] }),
    ],
    ['the pull has failed', makeSeen({ events: [{ reason: 'Pulling' }, { reason: 'Failed' }] })],
  ])('take a pull for over when %s', (_, seen) => {
    const limits = open()
    limits.observe(pulling)
    limits.observe(seen)
    vi.advanceTimersByTime(60 * seconds)
    expect(counts(limits, seen)).toBe(true)
  })

  test('say that a pull has ended once no image is pulled any more, and none failed', () => {
    const limits = open()
    const sees = (seen: WorkloadObjects) => {
      limits.observe(seen)
      return limits.pull
    }
    expect(sees(makeSeen({ events: [{ reason: 'Pulled' }] }))).toBe('none')
    expect(sees(pulling)).toBe('running')
    const failed = makeSeen({ events: [{ reason: 'Pulling' }, { reason: 'Failed' }] })
    expect(sees(failed)).toBe('running')
    expect(sees(pulled)).toBe('ended')
  })

  test('count no pull of a pod that the release replaces', () => {
    const limits = open()
    const { events, ...seen } = makeSeen({ isEnding: true, events: [{ reason: 'Pulling' }, { reason: 'Pulled' }] })
    const ofPrevious = { kind: 'Pod', name: 'old', uid: 'uid-old', fieldPath: 'spec.containers{web}' }
    const moved = events.map((event) => ({ ...event, fields: { ...event.fields, involvedObject: ofPrevious } }))
    limits.observe({ ...seen, events: moved })
    expect(limits.pull).toBe('none')
  })

  test('go on while one container of a pod pulls and another has pulled', () => {
    const limits = open()
    const seen = makeSeen({
      events: [
        { reason: 'Pulling', container: 'init' },
        ...[{ reason: 'Pulled', container: 'init' }],
        { reason: 'Pulling' },
      ],
    })
    limits.observe(seen)
    vi.advanceTimersByTime(600 * seconds)
    expect(counts(limits, seen)).toBe(false)
  })

  test('end a pull after an hour, with the image', () => {
    const limits = open()
    limits.observe(pulling)
    vi.advanceTimersByTime(3_599 * seconds)
    expect(limits.signal.aborted).toBe(false)
    vi.advanceTimersByTime(1 * seconds)
    expect(getError(limits).message).toMatch(/^the pull of shop:2 has not ended within 60 minutes: check/)
  })

  test('count no deadline while pods of the previous template end, and give the new ones the whole time', () => {
    const limits = open()
    const ending = makeSeen({ isEnding: true })
    limits.observe(ending)
    vi.advanceTimersByTime(90 * seconds)
    expect(counts(limits, ending)).toBe(false)
    const next = makeSeen({})
    expect(counts(limits, next)).toBe(false)
    vi.advanceTimersByTime(60 * seconds)
    expect(limits.countsDeadline(next)).toBe(true)
  })

  test('give the container of a Job its whole time from when it runs', () => {
    const limits = open('Job')
    const seen = (state: object) => makeSeen({ kind: 'Job', state, events: [{ reason: 'Pulling' }] })
    limits.observe(seen(creating))
    vi.advanceTimersByTime(600 * seconds)
    limits.observe(seen({ running: {} }))
    vi.advanceTimersByTime(29 * seconds)
    limits.observe(seen({ running: {} }))
    expect(limits.signal.aborted).toBe(false)
    vi.advanceTimersByTime(1 * seconds)
    expect(getError(limits)).toMatchObject({
      message: 'the container has not ended within 30 s: allow it more time with the timeout of the expected state',
      container: { pod: 'new', container: 'web', previousFirst: false },
    })
  })

  test.each([
    {
      waits: 'a cluster that reports nothing, with what it waits for',
      detail: '0 of 1 ready',
      after: 120,
      message: 'the cluster did not report the result in time: 0 of 1 ready',
    },
    {
      waits: 'a previous pod that never ends, with its name',
      seen: makeSeen({ isEnding: true }),
      after: 128,
      message: 'the pod old of the previous release does not end: check its machine and its finalizers',
    },
    {
      waits: 'the container of a Job that does not start, with the words of the scheduler',
      kind: 'Job' as const,
      seen: makeSeen({ kind: 'Job' }),
      detail: 'no node for the pod (Unschedulable)',
      after: 60,
      message: 'the container did not start within 60 s: no node for the pod (Unschedulable)',
    },
  ])('end the wait for $waits', ({ after, detail, kind, message, seen }) => {
    const limits = open(kind)
    if (seen) limits.observe(seen)
    if (detail) limits.detail = detail
    vi.advanceTimersByTime(after * seconds)
    expect(getError(limits).message).toBe(message)
  })
})
