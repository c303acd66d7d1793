import { kubernetesMissing } from '@crux/test-kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { spawnAgent } from './kit/agents.ts'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { ports, serve, shell } from './kit/cluster-scripts.ts'
import { createReleaseSequence } from './kit/release-sequence.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()
const fiveMinutes = 300_000

/** A module that moves the clock of the process that loads it first. */
const toClockModule = (offsetMs: number): string =>
  `data:text/javascript,${encodeURIComponent(`
    const RealDate = Date
    globalThis.Date = class extends RealDate {
      constructor(...given) {
        super(...(given.length > 0 ? given : [RealDate.now() + ${offsetMs}]))
      }
      static now() {
        return RealDate.now() + ${offsetMs}
      }
    }`)}`

describe.skipIf(missing).each([
  ['ahead of', fiveMinutes],
  ['behind', -fiveMinutes],
])('an agent whose clock is five minutes %s that of its cluster', (_, offsetMs) => {
  let agent: ClusterAgent
  let shifted: ReturnType<typeof spawnAgent>
  beforeEach(async () => {
    agent = await startClusterAgent()
    await agent.stopAgent()
    const { dataDir, kubeconfig, owner, server } = agent
    const links = server.links.length
    const nodeOptions = ['--import', toClockModule(offsetMs)]
    shifted = spawnAgent(server, { dataDir, kubeconfig, nodeId: owner.nodeId, nodeOptions })
    await waitUntil('the agent connects', () => server.links.length > links)
  })
  afterEach(async () => {
    shifted.child.kill()
    await shifted.exited
    await agent.dispose()
  })

  test('judges releases as every other one does, and reads the logs of their pods', async () => {
    const { deploy, deploySuccessfully, toRelease } = createReleaseSequence(agent)
    await deploySuccessfully({ ...serve('one'), ports })

    const crash = toRelease({ ...shell('echo the last words; exit 3'), ports })
    expect(await agent.server.deployAndWait(crash)).toMatchObject({
      successful: false,
      previousRestored: true,
      reason: 'the container ended with exit code 3',
    })
    expect(agent.server.toLines(crash, true)).toEqual(['the last words'])

    const neverReady = await deploy({
      ...serve('two'),
      ports,
      healthCheckConfig: { readinessProbe: '/missing', port: 8080 },
      expectedState: { state: 'running', timeout: 8 },
    })
    expect(neverReady).toMatchObject({ successful: false, previousRestored: true })
    expect(neverReady.reason).toMatch(/probe.*404/)

    const job = { name: 'job', ...shell('exit 0'), expectedState: { state: 'exited' as const, timeout: 60 } }
    const release = toRelease({}, { instances: [{ config: job }], partial: true })
    expect(await agent.server.deployAndWait(release)).toMatchObject({ successful: true })
    await deploySuccessfully({ ...serve('three'), ports })
  })
})
