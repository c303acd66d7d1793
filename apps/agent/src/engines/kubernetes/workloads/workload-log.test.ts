import { create } from '@bufbuild/protobuf'
import { ContainerSchema } from '@crux/agent-protocol'
import { describe, expect, test } from 'vitest'
import { makeClusterObject } from '../../../../test/kit/cluster-object.ts'
import { EngineError } from '../../../errors.ts'
import type { EngineEvent } from '../../engine.ts'
import { label, ownerLabels } from '../../labels.ts'
import type { Cluster, ClusterObject, ObjectKind } from '../cluster/cluster.ts'
import { LogRedactor } from './log-redactor.ts'
import type { PodRecord, WorkloadRecord } from './records.ts'
import { readWorkloadLog } from './workload-log.ts'

const namespace = 'demo'
const labels = {
  ...ownerLabels({ teamId: 'team-1', projectId: 'project-1', nodeId: 'node-1', prefix: namespace }),
  [label.name]: 'web',
}
const workload: WorkloadRecord = {
  ...{ kind: 'Deployment', uid: 'web', name: 'web', namespace, resourceVersion: '1', createdAt: 0, labels },
  ...{ replicas: 1, image: '', command: '', ports: [], problem: '', ended: undefined },
}

const toObject = (kind: ObjectKind, name: string, fields: Record<string, unknown>): ClusterObject =>
  makeClusterObject(kind, name, { labels, fields })
const toSpec = (secret: string) => ({ containers: [{ envFrom: [{ secretRef: { name: secret } }] }] })

/** A Deployment whose pods each print the value of the secret that they name, and that may be replaced by another release. */
function makeFixture() {
  const objects = new Map<string, ClusterObject>()
  const pods: PodRecord[] = []
  const listeners = new Set<(event: EngineEvent) => void>()
  const ending = new AbortController()
  let isSecretReadable = true
  const put = (object: ClusterObject) => objects.set(`${object.kind}/${object.name}`, object)
  const release = (pod: string, value: string) => {
    const secret = `${pod}-secret`
    put(toObject('Secret', secret, { data: { PASSWORD: Buffer.from(value).toString('base64') } }))
    put(toObject('Deployment', 'web', { spec: { template: { spec: toSpec(secret) } } }))
    put(toObject('Pod', pod, { spec: toSpec(secret) }))
    pods.push({
      ...{ uid: pod, name: pod, namespace, resourceVersion: '1', createdAt: 0, owner: undefined, container: 'web' },
      ...{ image: '', machine: '', isEnding: false, isReady: true, state: 'running', reason: '', exitCode: undefined },
      ...{ restarts: 0, startedAt: 0, requests: undefined },
    })
    for (const listener of listeners) listener({ kind: 'relist' })
  }
  const cluster: Pick<Cluster, 'get' | 'readLog'> = {
    async get({ kind, name }) {
      if (kind === 'Secret' && !isSecretReadable) throw new EngineError('unavailable', 'the API server does not answer')
      return objects.get(`${kind}/${name}`)
    },
    async *readLog({ name }, { follow, signal }) {
      const value = Buffer.from(
        String(Object.entries(Object(objects.get(`Secret/${name}-secret`)?.fields.data))[0]?.[1]),
        'base64',
      ).toString('utf8')
      yield [{ seconds: BigInt(pods.length), nanos: follow ? 1 : 0, stderr: false, text: `${name} has ${value}` }]
      if (follow && !signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve))
    },
  }
  const watch = {
    listPods: () => pods,
    row: async () => create(ContainerSchema),
    workload: () => workload,
    subscribe: (listener: (event: EngineEvent) => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const redactor = new LogRedactor(cluster, () => workload)
  return {
    release,
    forbidSecrets: () => {
      isSecretReadable = false
    },
    allowSecrets: () => {
      isSecretReadable = true
    },
    /** Lines as they come, until the callback is satisfied. */
    async follow(isEnough: (texts: readonly string[]) => boolean): Promise<string[]> {
      const texts: string[] = []
      const request = { take: 10, follow: true, signal: ending.signal }
      for await (const lines of readWorkloadLog({ cluster, watch, id: 'web', redactor }, request)) {
        texts.push(...lines.map(({ text }) => text))
        if (isEnough(texts)) ending.abort()
      }
      return texts
    },
  }
}

describe('a followed log', () => {
  test('hides the values of pods that appear later, and goes on to hide those of earlier ones', async () => {
    const { follow, release } = makeFixture()
    release('one', 'correct-horse')
    const texts = await follow((all) => {
      if (all.length === 1) release('two', 'battery-staple')
      return all.includes('two has ***')
    })
    expect(new Set(texts)).toEqual(new Set(['one has ***', 'two has ***']))
  })

  test('shows no line of a pod until the values of its secrets can be read', async () => {
    const { allowSecrets, follow, forbidSecrets, release } = makeFixture()
    release('one', 'correct-horse')
    const texts = await follow((all) => {
      if (all.length === 1) {
        forbidSecrets()
        release('two', 'battery-staple')
        setTimeout(allowSecrets, 50)
      }
      return all.includes('two has ***')
    })
    expect(new Set(texts)).toEqual(new Set(['one has ***', 'two has ***']))
  })
})
