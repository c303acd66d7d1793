import { describe, expect, test } from 'vitest'
import { makeClusterObject } from '../../../../test/kit/cluster-object.ts'
import type { ClusterObject, ObjectKind } from '../cluster/cluster.ts'
import { judgeDeployment, judgeJob, listPrepared, type WorkloadObjects } from './judge.ts'

/** Of the second generation. */
const makeObject = (kind: ObjectKind, name: string, input: Partial<ClusterObject> = {}): ClusterObject =>
  makeClusterObject(kind, name, { generation: 2, ...input })

const revision = (value: string) => ({ 'deployment.kubernetes.io/revision': value })
const ownedBy = (kind: string, name: string) => [{ kind, name, uid: `uid-${name}` }]

const ready = { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2 }

/** The cluster marks the pods of each template with a hash of it. */
const toTemplate = (image: string, hash?: string) => ({
  metadata: { labels: { app: 'web', ...(hash && { 'pod-template-hash': hash }) } },
  spec: { containers: [{ name: 'web', image }] },
})

function makeRollout(input: {
  status?: object
  /** Of the ReplicaSet with the old template, and of that with the new one. */
  sets?: { old?: object; new?: object }
  replicas?: number
  pod?: object
  oldPod?: object
  events?: { reason: string; message: string }[]
}): WorkloadObjects {
  const workload = makeObject('Deployment', 'web', {
    annotations: revision('2'),
    fields: {
      spec: { replicas: input.replicas ?? 2, progressDeadlineSeconds: 120, template: toTemplate('shop:2') },
      status: input.status ?? {},
    },
  })
  const set = (name: string, number: string, status = {}) =>
    makeObject('ReplicaSet', name, {
      annotations: revision(number),
      owners: ownedBy('Deployment', 'web'),
      fields: { spec: { template: toTemplate(`shop:${number}`, name) }, status },
    })
  const pod = (name: string, owner: string, status: object) =>
    makeObject('Pod', name, { owners: ownedBy('ReplicaSet', owner), fields: { status } })
  return {
    workload,
    replicaSets: [set('web-old', '1', input.sets?.old), set('web-new', '2', input.sets?.new)],
    pods: [
      ...(input.oldPod ? [pod('old', 'web-old', input.oldPod)] : []),
      ...(input.pod ? [pod('new', 'web-new', input.pod)] : []),
    ],
    events: (input.events ?? []).map((event, index) =>
      makeObject('Event', `e${index}`, {
        fields: { ...event, type: 'Warning', involvedObject: { kind: 'Pod', name: 'new', uid: 'uid-new' } },
      }),
    ),
  }
}

const generation = { generation: 2 }
const waiting = (reason: string, message = '') => ({
  containerStatuses: [{ name: 'web', restartCount: 0, state: { waiting: { reason, message } } }],
})
const ended = (exitCode: number, reason = 'Error') => ({
  containerStatuses: [
    { name: 'web', restartCount: 1, state: { running: {} }, lastState: { terminated: { exitCode, reason } } },
  ],
})

describe('a Deployment', () => {
  test('is ready when all replicas have the new template, are available, and no other pod is left', () => {
    expect(judgeDeployment(makeRollout({ status: ready }), generation)).toEqual({
      kind: 'ready',
      detail: '2 of 2 ready',
    })
  })

  test('that gets an earlier template back is not judged by the pods of the one that it had, whatever the revision says', () => {
    const rollout = makeRollout({ pod: { containerStatuses: [] }, oldPod: ended(3), status: { observedGeneration: 2 } })
    const workload = { ...rollout.workload, annotations: revision('1') } as ClusterObject
    expect(judgeDeployment({ ...rollout, workload }, generation).kind).toBe('progressing')
    const failing = makeRollout({ pod: ended(3), status: { observedGeneration: 2 } })
    expect(judgeDeployment({ ...failing, workload }, generation).kind).toBe('failed')
  })

  test('without replicas is ready once its controller has seen that and no pod is left', () => {
    const none = { observedGeneration: 2 }
    const judge = (status: object, pod?: object) =>
      judgeDeployment(makeRollout({ replicas: 0, status, ...(pod && { pod }) }), generation).kind
    expect(judge(none)).toBe('ready')
    expect(judge({ observedGeneration: 1 })).toBe('progressing')
    expect(judge({ ...none, replicas: 1 }, ended(1))).toBe('progressing')
  })

  test.each([
    ['its controller has not seen the newest change', { ...ready, observedGeneration: 1 }],
    ['a pod of the earlier template is left', { ...ready, replicas: 3 }],
    ['a replica has the earlier template', { ...ready, updatedReplicas: 1 }],
    ['a replica is not available', { ...ready, availableReplicas: 1 }],
    ['nothing is known', {}],
  ])('is in progress while %s', (_, status) => {
    expect(judgeDeployment(makeRollout({ status }), generation).kind).toBe('progressing')
  })

  test('is in progress while the cluster still shows the object from before the change', () => {
    expect(judgeDeployment(makeRollout({ status: ready }), { generation: 3 }).kind).toBe('progressing')
    expect(judgeDeployment({ workload: undefined, replicaSets: [], pods: [], events: [] }, generation).kind).toBe(
      'progressing',
    )
  })

  test('with no replicas is ready without a pod', () => {
    const status = { observedGeneration: 2 }
    expect(judgeDeployment(makeRollout({ status, replicas: 0 }), generation).kind).toBe('ready')
  })

  test.each([
    ['ErrImagePull', 'rpc error: not found', 'the image cannot be pulled (ErrImagePull: rpc error: not found)'],
    ['ImagePullBackOff', 'Back-off', 'the image cannot be pulled (ImagePullBackOff: Back-off)'],
    ['ErrImageNeverPull', '', 'the image is not on the node (ErrImageNeverPull)'],
    [
      'CreateContainerConfigError',
      'secret "x" not found',
      'the container cannot be created (CreateContainerConfigError: secret "x" not found)',
    ],
  ])('has failed when a container waits for %s', (reason, message, sentence) => {
    expect(
      judgeDeployment(makeRollout({ pod: waiting(reason, message), status: { observedGeneration: 2 } }), generation),
    ).toMatchObject({
      kind: 'failed',
      reason: sentence,
      container: { pod: 'new', container: 'web' },
    })
  })

  test('goes on while a busy node has not read a ConfigMap yet that exists', () => {
    const pod = waiting(
      'CreateContainerConfigError',
      'failed to sync configmap cache: timed out waiting for the condition',
    )
    const judged = judgeDeployment(makeRollout({ pod, status: { observedGeneration: 2 } }), generation)
    expect(judged.kind).toBe('progressing')
  })

  test.each([
    ['CreateContainerError', 'context deadline exceeded'],
    ['RunContainerError', 'context deadline exceeded'],
    ['CreateContainerError', 'rpc error: code = DeadlineExceeded desc = context deadline exceeded'],
    ['RunContainerError', 'failed to create containerd task: context deadline exceeded'],
    [
      'CreateContainerError',
      'failed to reserve container name "web_web-1_demo_uid_0": name "web_web-1_demo_uid_0" is reserved for "3f0c"',
    ],
  ])('goes on while a busy runtime reports %s with "%s", and names it at the deadline', (reason, message) => {
    const judge = (conditions: object[]) =>
      judgeDeployment(
        makeRollout({ pod: waiting(reason, message), status: { observedGeneration: 2, conditions } }),
        generation,
      )
    expect(judge([])).toMatchObject({ kind: 'progressing', detail: expect.stringContaining(message) })
    expect(judge([{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }])).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining(`yet (${message})`),
    })
  })

  test.each([
    ['CreateContainerError', 'failed to mkdir "/x": context canceled'],
    ['CreateContainerError', 'a hook failed: context deadline exceeded while waiting for the user'],
    ['RunContainerError', 'exec: "serve": executable file not found in $PATH'],
    ['ErrImagePull', 'failed to pull and unpack image: context deadline exceeded'],
  ])('has failed when a container waits for %s with "%s"', (reason, message) => {
    const judged = judgeDeployment(
      makeRollout({ pod: waiting(reason, message), status: { observedGeneration: 2 } }),
      generation,
    )
    expect(judged).toMatchObject({ kind: 'failed', reason: expect.stringContaining(message) })
  })

  test('goes on when a busy runtime did not start a container in time, and has failed when it could not', () => {
    const judge = (message: string, state: object = { running: {} }) => {
      const terminated = { exitCode: 128, reason: 'StartError', message }
      const container = { name: 'web', restartCount: 1, state, lastState: { terminated } }
      const pod = { containerStatuses: [container] }
      return judgeDeployment(makeRollout({ pod, status: { observedGeneration: 2 } }), generation).kind
    }
    expect(judge('context deadline exceeded')).toBe('progressing')
    expect(judge('context deadline exceeded', { waiting: { reason: 'CrashLoopBackOff' } })).toBe('progressing')
    expect(judge('exec: "serve": executable file not found in $PATH')).toBe('failed')
  })

  test('has failed as soon as a container has ended, although the cluster starts it again', () => {
    const judged = judgeDeployment(makeRollout({ pod: ended(3), status: { observedGeneration: 2 } }), generation)
    expect(judged).toEqual({
      kind: 'failed',
      reason: 'the container ended with exit code 3',
      container: { pod: 'new', container: 'web', previousFirst: true },
    })
  })

  test.each([
    { says: 'that has just ended, which may be started again at any moment', restartCount: 0, previousFirst: true },
    { says: 'that has ended again', restartCount: 1, previousFirst: false },
  ])('names whose log to read first of a container $says', ({ restartCount, previousFirst }) => {
    const container = { name: 'web', restartCount, state: { terminated: { exitCode: 3, reason: 'Error' } } }
    const pod = { containerStatuses: [container] }
    const judged = judgeDeployment(makeRollout({ pod, status: { observedGeneration: 2 } }), generation)
    expect(judged).toMatchObject({ kind: 'failed', container: { container: 'web', previousFirst } })
  })

  describe('that ran before', () => {
    const known = { ...generation, ranBefore: true }
    const judge = (pod: object, status: object = ready) => judgeDeployment(makeRollout({ pod, status }), known).kind
    const runsAgain = (more: object = {}) => {
      const [container] = ended(3).containerStatuses
      return { ...more, containerStatuses: [{ ...container, ready: true }] }
    }

    test('is ready whatever its containers did before they ran again', () => {
      expect(judge(runsAgain())).toBe('ready')
      const terminated = { exitCode: 1, reason: 'Error' }
      const init = { name: 'init', restartCount: 2, state: { terminated: { exitCode: 0 } }, lastState: { terminated } }
      expect(judge(runsAgain({ initContainerStatuses: [init] }))).toBe('ready')
      expect(judge(runsAgain(), { ...ready, availableReplicas: 1 })).toBe('progressing')
    })

    test('has failed when a container has ended now, or ends again and again', () => {
      expect(judge(waiting('CrashLoopBackOff'))).toBe('failed')
      const state = { terminated: { exitCode: 3, reason: 'Error' } }
      expect(judge({ containerStatuses: [{ name: 'web', restartCount: 4, state }] })).toBe('failed')
    })

    test('is ready beside a pod that was evicted and replaced', () => {
      expect(judge({ phase: 'Failed', reason: 'Evicted' })).toBe('ready')
      expect(judge({ ...waiting('ContainerStatusUnknown'), phase: 'Failed' })).toBe('ready')
      const status = { observedGeneration: 2 }
      const evicted = makeRollout({ status, pod: { phase: 'Failed', reason: 'Evicted', message: 'low on memory' } })
      expect(judgeDeployment(evicted, generation)).toMatchObject({ reason: 'a pod was evicted: low on memory' })
    })
  })

  test('names the memory limit as the reason for a container that was killed for it', () => {
    const judged = judgeDeployment(
      makeRollout({ pod: ended(137, 'OOMKilled'), status: { observedGeneration: 2 } }),
      generation,
    )
    expect(judged).toMatchObject({ kind: 'failed', reason: expect.stringContaining('OOMKilled') })
  })

  test('names the probe after whose failures a container was ended', () => {
    const events = [{ reason: 'Unhealthy', message: 'Liveness probe failed: HTTP 500' }]
    const judged = judgeDeployment(
      makeRollout({ pod: ended(137), status: { observedGeneration: 2 }, events }),
      generation,
    )
    expect(judged).toMatchObject({
      reason: 'the container ended with exit code 137 after Liveness probe failed: HTTP 500',
    })
  })

  test('does not take a failure of the readiness probe for the reason of an end', () => {
    const events = [{ reason: 'Unhealthy', message: 'Readiness probe failed: connection refused' }]
    const judged = judgeDeployment(
      makeRollout({ pod: ended(3), status: { observedGeneration: 2 }, events }),
      generation,
    )
    expect(judged).toMatchObject({ reason: 'the container ended with exit code 3' })
  })

  test('does not fail for a container of the earlier template', () => {
    expect(judgeDeployment(makeRollout({ status: ready, oldPod: ended(1) }), generation).kind).toBe('ready')
  })

  test('does not fail for an init container that has done its work', () => {
    const pod = {
      initContainerStatuses: [{ name: 'init', state: { terminated: { exitCode: 0, reason: 'Completed' } } }],
      containerStatuses: [{ name: 'web', ready: true, state: { running: {} } }],
    }
    expect(judgeDeployment(makeRollout({ status: ready, pod }), generation).kind).toBe('ready')
  })

  test('has failed when an init container ends with an error', () => {
    const pod = { initContainerStatuses: [{ name: 'init', state: { terminated: { exitCode: 2, reason: 'Error' } } }] }
    expect(judgeDeployment(makeRollout({ status: { observedGeneration: 2 }, pod }), generation)).toMatchObject({
      reason: 'init container init: the container ended with exit code 2',
    })
  })

  test('has failed with the words of the preparation of its volumes, and says what one has done', () => {
    const toPod = (terminated: object) => ({ initContainerStatuses: [{ name: 'crux-prepare', state: { terminated } }] })
    const of = (terminated: object) => makeRollout({ status: { observedGeneration: 2 }, pod: toPod(terminated) })
    const failed = of({ exitCode: 1, reason: 'Error', message: 'conf: the volume is full (ENOSPC)' })
    expect(judgeDeployment(failed, generation)).toMatchObject({
      kind: 'failed',
      reason: 'the files of the volumes cannot be prepared: conf: the volume is full (ENOSPC)',
      container: { container: 'crux-prepare' },
    })
    expect(listPrepared(failed)).toEqual([])
    expect(judgeDeployment(of({ exitCode: 137, reason: 'OOMKilled' }), generation)).toMatchObject({
      reason: expect.stringContaining('init container crux-prepare: the container was killed because it used more'),
    })
    expect(listPrepared(of({ exitCode: 0, message: 'copied 1 files\nleft out' }))).toEqual([
      'copied 1 files',
      'left out',
    ])
  })

  test('shows the words of the scheduler while no node has room, and fails with them at the deadline', () => {
    const pod = {
      conditions: [
        { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes: Insufficient cpu' },
      ],
    }
    const words = 'no node for the pod (Unschedulable: 0/1 nodes: Insufficient cpu)'
    const status = { observedGeneration: 2 }
    expect(judgeDeployment(makeRollout({ pod, status }), generation)).toEqual({
      kind: 'progressing',
      detail: `0 of 2 ready, ${words}`,
    })
    const late = {
      ...status,
      conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
    }
    expect(judgeDeployment(makeRollout({ pod, status: late }), generation)).toMatchObject({
      kind: 'failed',
      reason: `it was not ready within 120 s: ${words}`,
    })
  })

  test('has failed when the cluster refuses its pods, and not those of the template that it had', () => {
    const conditions = [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota: small' }]
    const judge = (sets: { old?: object; new?: object }) =>
      judgeDeployment(makeRollout({ status: { observedGeneration: 2, conditions }, sets }), generation)
    expect(judge({ new: { conditions } })).toMatchObject({
      reason: 'the cluster refuses the pods: exceeded quota: small',
    })
    expect(judge({ old: { conditions } }).kind).toBe('progressing')
  })

  test('has not failed because the template that it had missed its deadline', () => {
    const judge = (message: string) => {
      const conditions = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message }]
      return judgeDeployment(makeRollout({ status: { observedGeneration: 2, conditions } }), generation).kind
    }
    expect(judge('ReplicaSet "web-old" has timed out progressing.')).toBe('progressing')
    expect(judge('ReplicaSet "web-new" has timed out progressing.')).toBe('failed')
    expect(judge('Deployment "web" has timed out progressing.')).toBe('failed')
  })

  test('has not failed at a deadline that includes the pull of its image', () => {
    const conditions = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }]
    const judge = (hasTime: boolean) =>
      judgeDeployment(makeRollout({ status: { observedGeneration: 2, conditions } }), { ...generation, hasTime }).kind
    expect(judge(true)).toBe('progressing')
    expect(judge(false)).toBe('failed')
  })
})

describe('a Job', () => {
  const makeJob = (pod?: object, status: object = {}): WorkloadObjects => ({
    workload: makeObject('Job', 'task', { fields: { status } }),
    replicaSets: [],
    pods: pod ? [makeObject('Pod', 'task-1', { owners: ownedBy('Job', 'task'), fields: { status: pod } })] : [],
    events: [],
  })
  const exit = (exitCode: number, reason = 'Error') => ({
    containerStatuses: [{ name: 'task', state: { terminated: { exitCode, reason } } }],
  })

  test('is ready when its container has ended with the expected exit code', () => {
    expect(judgeJob(makeJob(exit(0)), 0)).toMatchObject({ kind: 'ready' })
    expect(judgeJob(makeJob(exit(7)), 7)).toMatchObject({ kind: 'ready' })
  })

  test('has failed with another exit code, and when it was killed for its memory', () => {
    expect(judgeJob(makeJob(exit(1)), 0)).toMatchObject({
      kind: 'failed',
      reason: 'the container ended with exit code 1, expected was 0',
    })
    expect(judgeJob(makeJob(exit(137, 'OOMKilled')), 137)).toMatchObject({ kind: 'failed' })
  })

  test('is in progress while its container runs, and before it has a pod', () => {
    expect(judgeJob(makeJob({ containerStatuses: [{ name: 'task', state: { running: {} } }] }), 0).kind).toBe(
      'progressing',
    )
    expect(judgeJob(makeJob(), 0).kind).toBe('progressing')
  })

  test('has failed when the cluster ends it', () => {
    const status = { conditions: [{ type: 'Failed', status: 'True', reason: 'DeadlineExceeded', message: 'too long' }] }
    expect(judgeJob(makeJob(undefined, status), 0)).toEqual({ kind: 'failed', reason: 'too long' })
  })
})
