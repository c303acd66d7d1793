import type { Release } from '@crux/agent-protocol'
import { undefinedIfMissing } from '../../../errors.ts'
import { getOwner, isOwnedBy } from '../../labels.ts'
import type { Driver } from '../containers/container-engine.ts'
import { handoverNetworkName, networkName } from '../containers/names.ts'
import type { ExecutorsOf } from './release-context.ts'

/** The containers that a release replaces. */
export const previousExecutors: ExecutorsOf<'previous.stop' | 'previous.remove' | 'previous.restore'> = {
  'previous.stop': async ({ id, name, instanceId, restartPolicy }, { node, progressReporter }) => {
    const { engine } = node.driver
    progressReporter.silences(instanceId, name)
    const startedAt = performance.now()
    // Otherwise an engine that restarts in between would start it again beside the new one.
    if (restartPolicy.name === 'always' || restartPolicy.name === 'on-failure')
      await engine.setRestartPolicy(id, { name: 'no' }).catch(undefinedIfMissing)
    await engine.stop(id).catch(undefinedIfMissing)
    progressReporter.stopped(instanceId, name, performance.now() - startedAt)
  },
  'previous.remove': async ({ id, name, instanceId }, { node, progressReporter, release }) => {
    const { driver } = node
    const seen = await driver.engine.observe(id).catch(undefinedIfMissing)
    if (!seen) return
    if (!release.owner || !isOwnedBy(seen.labels, release.owner)) return
    if (seen.state === 'running') await driver.engine.stop(id).catch(undefinedIfMissing)
    await driver.engine.discard(id)
    await removeNetworkOfDeletedNode(driver, seen.labels, release.owner)
    progressReporter.info(
      instanceId,
      instanceId === '' ? `removed ${name}, which is no longer part of the version` : `removed the previous ${name}`,
    )
  },
  'previous.restore': async ({ id, name, instanceId, restartPolicy }, { node, progressReporter }) => {
    const { engine } = node.driver
    const seen = await engine.observe(id)
    if (seen.restartPolicy.name !== restartPolicy.name) await engine.setRestartPolicy(id, restartPolicy)
    if (seen.state === 'running') return
    await engine.start(id)
    progressReporter.info(instanceId, `started the previous ${name} again`)
  },
}

/** No other agent would remove it: the node whose prefix the network was for is deleted, and its last container was just removed. */
async function removeNetworkOfDeletedNode(
  driver: Driver,
  labels: Record<string, string>,
  owner: NonNullable<Release['owner']>,
): Promise<void> {
  const previous = getOwner(labels)
  if (!previous || previous.nodeId === owner.nodeId) return
  for (const name of [handoverNetworkName(previous), networkName(previous)])
    await driver.engine.removeNetworkIfUnused(name).catch(() => undefined)
}
