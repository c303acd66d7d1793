import type { Release } from '@crux/agent-protocol'
import { isEngineError, PlanError } from '../../../errors.ts'
import { ownerLabels } from '../../labels.ts'
import type { Driver } from '../containers/container-engine.ts'
import { handoverNetworkName, networkName } from '../containers/names.ts'
import { verifyEngineNetwork } from '../networks/team-networks.ts'
import { getId } from './own-containers.ts'
import type { ExecutorsOf } from './release-context.ts'

export const networkExecutors: ExecutorsOf<
  'network.ensure' | 'network.join' | 'team-network.ensure' | 'engine-network.verify'
> = {
  'network.ensure': async ({ network, internal }, { node, release, state }) => {
    if (!state.networks.has(network)) await ensureOwnNetwork(node.driver, release, network, internal)
    state.networks.add(network)
  },
  'team-network.ensure': async ({ network, key }, { release, node }) => {
    if (release.owner) await node.teamNetworks.ensure({ name: network, key }, release.owner)
  },
  'engine-network.verify': ({ network }, { node }) => verifyEngineNetwork(node.driver.engine, network),
  'network.join': async ({ target, network, aliases }, context) => {
    try {
      await context.node.driver.engine.joinNetwork(getId(context, target), network, aliases)
    } catch (error) {
      // A neighbour that ended in the meantime needs no names.
      if (target.kind === 'new' || !(isEngineError(error, 'not-found') || isEngineError(error, 'conflict'))) throw error
    }
  },
}

/**
 * Creates the network of the release's prefix where it is missing.
 *
 * @throws PlanError for any other network
 */
export async function ensureOwnNetwork(
  driver: Driver,
  { owner }: Release,
  name: string,
  internal: boolean,
): Promise<void> {
  if (!owner || (name !== networkName(owner) && name !== handoverNetworkName(owner)))
    throw new PlanError('', `the network ${name} is not one of this prefix`)
  await driver.engine.ensureNetwork({ name, internal, labels: ownerLabels(owner) })
}
