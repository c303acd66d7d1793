import { patterns } from '@crux/contract'
import type { Logger } from '@crux/service-kit'
import { getMessage } from '../../../errors.ts'
import { getOwner, label, type OwnerIds, ownerLabels } from '../../labels.ts'
import type { ContainerEngine, ObservedNetwork } from '../containers/container-engine.ts'
import { handoverNetworkName, networkName } from '../containers/names.ts'
import type { TeamNetworks } from './team-networks.ts'

/** The networks of prefixes between deployments: created ahead of the first deployment, removed with the last container. */
export interface PrefixNetworks {
  /** Creates the prefix's network, so that a start finds it. */
  prepare(owner: OwnerIds): Promise<void>
  /** Removes the prefix's networks unless a container uses them or a deployment is in progress. */
  release(owner: OwnerIds): Promise<void>
  /** Removes networks that were prepared long ago. */
  sweep(): Promise<void>
  /** Removes every prepared network that is not used: no other process would remove it. */
  clear(): Promise<void>
}

/** A machine has room for few bridges: above this number, the network that was prepared longest ago is removed. */
const preparedDefault = 16
const staleMs = 24 * 60 * 60 * 1_000

/** @param options.isBusy whether a deployment under a prefix is in progress: its network may exist before its first container */
export function createPrefixNetworks(options: {
  engine: ContainerEngine
  nodeId: () => string
  isBusy: (prefix: string) => boolean
  /** Networks that prefixes of the team share are removed at the same times. */
  team: TeamNetworks
  log: Logger
  preparedMax?: number
  now?: () => number
}): PrefixNetworks {
  const { engine, nodeId, isBusy, team, log, preparedMax = preparedDefault } = options
  const now = options.now ?? Date.now

  /** Unused networks of this node, the oldest first. Another agent on the same engine manages its own. */
  async function unused(): Promise<(ObservedNetwork & { owner: OwnerIds })[]> {
    const all = await engine.observeNetworks(`${label.node}=${nodeId()}`)
    return all
      .flatMap((network) => {
        const owner = getOwner(network.labels)
        return owner && !network.used ? [{ ...network, owner }] : []
      })
      .sort((left, right) => left.createdAt.getTime() - right.createdAt.getTime())
  }

  async function releasePrefix(owner: OwnerIds): Promise<void> {
    if (isBusy(owner.prefix)) return
    for (const name of [handoverNetworkName(owner), networkName(owner)]) {
      await engine
        .removeNetworkIfUnused(name)
        .catch((error) =>
          log.warn({ network: name, reason: getMessage(error) }, 'an unused network could not be removed'),
        )
    }
  }

  async function quietly(what: string, work: () => Promise<void>): Promise<void> {
    await work().catch((error) => log.warn({ reason: getMessage(error) }, what))
  }

  return {
    async release(owner) {
      await releasePrefix(owner)
      await team.removeUnused()
    },
    prepare: (owner) =>
      quietly('a network could not be prepared', async () => {
        // The server sends the prefix, and it becomes a name on the engine.
        if (owner.nodeId !== nodeId() || !patterns.dnsLabel.test(owner.prefix)) return
        const name = networkName(owner)
        await engine.ensureNetwork({ name, internal: false, labels: ownerLabels(owner) })
        const others = (await unused()).filter((network) => network.name !== name)
        for (const { owner: oldest } of others.slice(0, Math.max(0, others.length + 1 - preparedMax)))
          await releasePrefix(oldest)
      }),
    sweep: () =>
      quietly('unused networks could not be removed', async () => {
        for (const { owner, createdAt } of await unused())
          if (now() - createdAt.getTime() > staleMs) await releasePrefix(owner)
        await team.removeUnused()
      }),
    clear: () =>
      quietly('unused networks could not be removed', async () => {
        await Promise.all([team.removeUnused(), ...(await unused()).map(({ owner }) => releasePrefix(owner))])
      }),
  }
}
