import { randomUUID } from 'node:crypto'
import { kubernetesMissing } from '@crux/test-kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Manifest } from '../src/engines/kubernetes/cluster/cluster.ts'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { getPath } from './kit/cluster-objects.ts'
import { ports, serve, shell } from './kit/cluster-scripts.ts'
import { createReleaseSequence, type ReleaseSequence } from './kit/release-sequence.ts'
import { waitUntil } from './kit/wait-until.ts'

describe.skipIf(kubernetesMissing())('the service of a container', () => {
  let agent: ClusterAgent
  let sequence: ReleaseSequence
  beforeEach(async () => {
    agent = await startClusterAgent()
    sequence = createReleaseSequence(agent, { config: { ports } })
  })
  afterEach(() => agent.dispose())

  /** Of the pods to which a service leads. */
  const listEndpoints = async (service: string) => {
    const path = `/api/v1/namespaces/${agent.owner.prefix}/endpoints/${service}`
    const { subsets } = Object(await agent.admin.json({ path }))
    return [...JSON.stringify(subsets ?? []).matchAll(/"ip":"([^"]+)"/g)].map(([, ip]) => ip)
  }
  const toService = (name: string): Manifest => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: agent.owner.prefix },
    spec: { ports: [{ port: 80 }], selector: { 'dev.crux.name': 'web' } },
  })

  test('does not lead to a Job of the same name of another project in the prefix', async () => {
    await sequence.deploySuccessfully(serve('one'))
    // Selects by the name alone, and so shows when the cluster knows that the pod of the Job is ready.
    await agent.cluster.create(toService('by-name'))
    await waitUntil('the pod has an address', async () => (await listEndpoints('web')).length === 1)
    const own = await listEndpoints('web')
    const release = agent.release({
      deploymentId: randomUUID(),
      owner: { ...agent.owner, projectId: randomUUID() },
      instances: [
        {
          config: {
            name: 'web',
            ...shell('sleep 600'),
            stopGracePeriodSeconds: 0,
            expectedState: { state: 'exited', timeout: 60 },
          },
        },
      ],
    })
    agent.server.deploy(release)
    await waitUntil('the pod of the Job has an address', async () => (await listEndpoints('by-name')).length === 2)
    expect(await listEndpoints('web')).toEqual(own)
  })

  test('that earlier agents made loses no request when it selects by the owner too', async () => {
    await sequence.deploySuccessfully({ ...serve('one'), replicas: 2 })
    const made = await agent.cluster.getOwned({ kind: 'Service', namespace: agent.owner.prefix, name: 'web' })
    if (!made?.manifest) throw new Error('the service is the own one')
    const { manifest, object } = made
    const spec = { ...Object(manifest.spec), selector: { 'dev.crux.name': 'web' } }
    const earlier = await agent.cluster.apply({ ...manifest, spec }, object)
    expect(getPath(earlier, 'spec', 'selector')).toEqual({ 'dev.crux.name': 'web' })
    const url = `http://${getPath(earlier, 'spec', 'clusterIP')}/`
    const release = sequence.toRelease({ ...serve('two'), replicas: 2 })
    agent.server.deploy(release)
    const ended = agent.server.getOutcome(release)
    const answers: string[] = []
    for (let isOver = false; !isOver; ) {
      const answer = fetch(url, { headers: { connection: 'close' } }).then(
        async (response) => (await response.text()).trim(),
        (error: unknown) => String(error),
      )
      isOver = await Promise.race([ended.then(() => true), answer.then(() => false)])
      answers.push(await answer)
    }
    expect(await ended).toMatchObject({ successful: true, reason: '' })
    expect(new Set(answers)).toEqual(new Set(['one', 'two']))
    expect(getPath(await agent.get('Service', 'web'), 'spec', 'selector')).toMatchObject({
      'dev.crux.project': agent.owner.projectId,
    })
  })
})
