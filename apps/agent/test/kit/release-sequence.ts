import { randomUUID } from 'node:crypto'
import type { Release } from '@crux/agent-protocol'
import { expect } from 'vitest'
import type { ClusterAgent } from './cluster-agent.ts'

type ReleaseOptions = Partial<Parameters<ClusterAgent['release']>[0]>

export type ReleaseSequence = ReturnType<typeof createReleaseSequence>

/** The releases of one deployment with one container, `web`, numbered in the order in which they are made. */
export function createReleaseSequence(
  agent: ClusterAgent,
  defaults: { config?: object; release?: ReleaseOptions } = {},
) {
  const instanceId = randomUUID()
  const deploymentId = randomUUID()
  let number = 0
  const toRelease = (config: object, more: ReleaseOptions = {}): Release => {
    number += 1
    return agent.release({
      deploymentId,
      number,
      previous: number > 1 ? [{ containerName: `${agent.owner.prefix}-web`, instanceId }] : [],
      instances: [{ instanceId, config: { name: 'web', ...defaults.config, ...config } }],
      ...defaults.release,
      ...more,
    })
  }
  const deploy = (config: object, more?: ReleaseOptions) => agent.server.deployAndWait(toRelease(config, more))
  return {
    instanceId,
    toRelease,
    deploy,
    deploySuccessfully: async (config: object, more?: ReleaseOptions) =>
      expect(await deploy(config, more)).toMatchObject({ successful: true, reason: '' }),
  }
}
