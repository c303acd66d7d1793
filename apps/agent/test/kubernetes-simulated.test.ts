import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ContainerState } from '@crux/agent-protocol'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openCluster } from '../src/engines/kubernetes/client/open-cluster.ts'
import { createWorkloadView } from '../src/engines/kubernetes/workloads/workload-view.ts'
import { silent, toKubeconfig } from './kit/cluster.ts'
import { startSimulatedApi, toSimulatedDeployment, toSimulatedPod } from './kit/simulated-api.ts'
import { waitUntil } from './kit/wait-until.ts'

const pods = 5_000

setFlagsFromString('--expose-gc')
const collectGarbage: unknown = runInNewContext('gc')
function heapMegabytes(): number {
  if (typeof collectGarbage === 'function') collectGarbage()
  return process.memoryUsage().heapUsed / 1_024 / 1_024
}

describe('a large cluster', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'crux-simulated-'))
  })
  afterEach(() => rm(directory, { recursive: true, force: true }))

  async function open(version?: NonNullable<Parameters<typeof startSimulatedApi>[0]['version']>) {
    const api = await startSimulatedApi({ pods, ...(version && { version }) })
    const kubeconfig = join(directory, 'kubeconfig')
    await writeFile(kubeconfig, toKubeconfig({ server: api.server, 'insecure-skip-tls-verify': true }, {}))
    return { api, cluster: await openCluster({ kubeconfig, log: silent }) }
  }

  test('of 5,000 pods is shown with less than 15 MB of memory, and changes without being listed again', async () => {
    const { api, cluster } = await open()
    await cluster.assertAvailable()
    const before = heapMegabytes()
    const view = createWorkloadView(cluster, silent)
    try {
      const rows = await view.list({ prefix: 'big' })
      expect(rows).toHaveLength(api.deployments)
      expect(rows[0]).toMatchObject({ state: ContainerState.RUNNING, reason: '5 of 5 pods ready', restartCount: 5 })
      expect(await view.list({})).toHaveLength(api.deployments)
      expect(heapMegabytes() - before).toBeLessThan(15)
      const listed = api.lists.length
      const pod = toSimulatedPod(0)
      const waiting = [{ name: 'web', restartCount: 9, state: { waiting: { reason: 'CrashLoopBackOff' } } }]
      const metadata = { ...pod.metadata, resourceVersion: '200' }
      api.send('/api/v1/pods', {
        type: 'MODIFIED',
        object: { ...pod, metadata, status: { phase: 'Running', containerStatuses: waiting } },
      })
      await waitUntil('the change', async () =>
        (await view.view(['uid-d0'])).some(({ reason }) => reason === '4 of 5 pods ready: CrashLoopBackOff'),
      )
      api.send('/apis/apps/v1/deployments', { type: 'DELETED', object: toSimulatedDeployment(1) })
      await waitUntil('the removal', async () => (await view.view(['uid-d1'])).length === 0)
      expect(api.lists).toHaveLength(listed)
      // The position of a watch is lost: everything is listed again.
      api.send('/api/v1/pods', { type: 'ERROR', object: { metadata: {}, code: 410, reason: 'Expired' } })
      await waitUntil('another list', () => api.lists.filter((list) => list === '/api/v1/pods 0').length === 2)
    } finally {
      view.close()
      cluster.close()
      await api.stop()
    }
  })

  test('that changes while it is listed is listed from the beginning, without repeating an object', async () => {
    const { api, cluster } = await open()
    api.expireNextPage()
    const { objects } = await cluster.list('Pod', {})
    expect(objects).toHaveLength(pods)
    expect(new Set(objects.map(({ uid }) => uid)).size).toBe(pods)
    cluster.close()
    await api.stop()
  })

  test('is refused with a sentence when it is older than 1.30', async () => {
    const { api, cluster } = await open({ major: '1', minor: '29+', gitVersion: 'v1.29.15' })
    await expect(cluster.describe()).rejects.toMatchObject({
      kind: 'refused',
      message:
        'The cluster runs Kubernetes 1.29.15, and this agent needs Kubernetes 1.30 or later: upgrade the cluster',
    })
    cluster.close()
    await api.stop()
  })

  test('cannot be opened with a kubeconfig that is none, and the message repeats nothing of it', async () => {
    const kubeconfig = join(directory, 'broken')
    await writeFile(kubeconfig, 'users:\n- token: "hunter2\n  : [')
    const error = await openCluster({ kubeconfig, log: silent }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ kind: 'refused', message: `the kubeconfig ${kubeconfig} cannot be read` })
    expect(error).not.toHaveProperty('cause')
  })
})
