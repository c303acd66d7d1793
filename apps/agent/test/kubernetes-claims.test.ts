import { randomUUID } from 'node:crypto'
import { kubernetesMissing } from '@crux/test-kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { getPath } from './kit/cluster-objects.ts'
import { serve } from './kit/cluster-scripts.ts'
import { createReleaseSequence, type ReleaseSequence } from './kit/release-sequence.ts'

describe.skipIf(kubernetesMissing())('a claim of a volume', () => {
  let agent: ClusterAgent
  let sequence: ReleaseSequence
  beforeEach(async () => {
    agent = await startClusterAgent()
    sequence = createReleaseSequence(agent, { config: serve('one') })
  })
  afterEach(() => agent.dispose())
  const toInstance = (name: string, volume: string) => ({
    instanceId: randomUUID(),
    config: { name, ...serve('one'), volumes: [{ name: volume, path: '/data', size: '10Mi' }] },
  })

  test('is never that of two containers, of one release or of two', async () => {
    const [first, second] = [toInstance('a', 'b-c'), toInstance('a-b', 'c')]
    const reason =
      'The volume b-c of a and the volume c of a-b would both be the claim a-b-c, and two containers would write to it: rename one of the volumes or containers'
    const both = await sequence.deploy({}, { instances: [first, second] })
    expect(both).toMatchObject({ successful: false, reason, instanceId: second.instanceId })
    expect(await agent.list('PersistentVolumeClaim')).toEqual([])
    await sequence.deploySuccessfully({}, { instances: [first] })
    const alone = await sequence.deploy({}, { instances: [second], previous: [], partial: true })
    expect(alone).toMatchObject({ successful: false, reason, instanceId: second.instanceId })
    expect((await agent.list('Deployment')).map(({ name }) => name)).toEqual(['a'])
  })

  test('for one pod is not written by several: the release is refused before anything changes', async () => {
    const withType = (type: 'rwo' | 'rwx') => ({ volumes: [{ name: 'data', path: '/data', size: '10Mi', type }] })
    await sequence.deploySuccessfully(withType('rwo'))
    const refused = await sequence.deploy(withType('rwx'))
    expect(refused.reason).toContain('the claim web-data was made for one pod (ReadWriteOnce)')
    expect(getPath(await agent.get('Deployment', 'web'), 'spec', 'strategy', 'type')).toBe('Recreate')
    await sequence.deploySuccessfully({ ...withType('rwx'), deploymentStrategy: 'recreate' })
  })

  test('keeps its size, and the release says so once', async () => {
    const withSize = (size: string) => ({ volumes: [{ name: 'data', path: '/data', size }] })
    await sequence.deploySuccessfully(withSize('10Mi'))
    const release = sequence.toRelease(withSize('20Mi'))
    expect(await agent.server.deployAndWait(release)).toMatchObject({ successful: true })
    const isKept = (line: string) => line.startsWith('volumes: the claim web-data keeps the size ')
    expect(agent.server.toLines(release).filter(isKept)).toHaveLength(1)
    const again = sequence.toRelease({ ...withSize('10Mi'), tty: true })
    expect(await agent.server.deployAndWait(again)).toMatchObject({ successful: true })
    expect(agent.server.toLines(again).filter(isKept)).toEqual([])
  })
})
