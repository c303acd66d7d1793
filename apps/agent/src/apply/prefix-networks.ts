import type { Owner } from '@crux/agent-protocol'
import { patterns } from '@crux/contract'
import type { Logger } from '@crux/service-kit'
import type { ContainerEngine, ObservedNetwork } from '../drivers/container-engine.ts'
import { messageOf } from '../drivers/errors.ts'
import { label, ownerLabels, ownerOf } from '../plan/labels.ts'
import { handoverNetworkName, networkName } from '../plan/names.ts'
import type { TeamNetworks } from './team-networks.ts'

type OwnerIds = Pick<Owner, 'teamId' | 'projectId' | 'nodeId' | 'prefix'>

/** The networks of prefixes between deployments: made ahead of the first one, gone with the last container. */
export interface PrefixNetworks {
  /** Makes the prefix's network, so that a start finds it. */
  prepare(owner: OwnerIds): Promise<void>
  /** Removes the prefix's networks unless a container uses them or a deployment is under way. */
  release(owner: OwnerIds): Promise<void>
  /** Removes what was prepared long ago. */
  sweep(): Promise<void>
  /** Removes everything that was prepared and is not used: nobody else would. */
  clear(): Promise<void>
}

/** A machine has room for only so many bridges: beyond these, the one prepared longest ago makes room. */
const preparedDefault = 16
const staleMs = 24 * 60 * 60 * 1_000

/** @param options.isBusy whether a deployment under a prefix is under way: it may have its network before its first container */
export function createPrefixNetworks(options: {
  engine: ContainerEngine
  nodeId: () => string
  isBusy: (prefix: string) => boolean
  /** Those that prefixes of the team share go on the same occasions. */
  team: TeamNetworks
  log: Logger
  preparedMax?: number
  now?: () => number
}): PrefixNetworks {
  const { engine, nodeId, isBusy, team, log, preparedMax = preparedDefault } = options
  const now = options.now ?? Date.now

  /** Unused networks of this node, the oldest first. Another agent on the same engine looks after its own. */
  async function unused(): Promise<(ObservedNetwork & { owner: OwnerIds })[]> {
    const all = await engine.observeNetworks(`${label.node}=${nodeId()}`)
    return all
      .flatMap((network) => {
        const owner = ownerOf(network.labels)
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
          log.warn({ network: name, reason: messageOf(error) }, 'an unused network could not be removed'),
        )
    }
  }

  async function quietly(what: string, work: () => Promise<void>): Promise<void> {
    await work().catch((error) => log.warn({ reason: messageOf(error) }, what))
  }

  return {
    async release(owner) {
      await releasePrefix(owner)
      await team.removeUnused()
    },
    prepare: (owner) =>
      quietly('a network could not be prepared', async () => {
        // The server's word becomes a name on the engine.
        if (owner.nodeId !== nodeId() || !patterns.dnsLabel.test(owner.prefix)) return
        const name = networkName(owner)
        await engine.ensureNetwork({ name, internal: false, labels: ownerLabels(owner) })
        const others = (await unused()).filter((network) => network.name !== name)
        for (const { owner: oldest } of others.slice(0, Math.max(0, others.length + 1 - preparedMax)))
          await releasePrefix(oldest)
      }),
    sweep: () =>
      quietly('unused networks were not looked for', async () => {
        for (const { owner, createdAt } of await unused())
          if (now() - createdAt.getTime() > staleMs) await releasePrefix(owner)
        await team.removeUnused()
      }),
    clear: () =>
      quietly('unused networks were not looked for', async () => {
        await Promise.all([team.removeUnused(), ...(await unused()).map(({ owner }) => releasePrefix(owner))])
      }),
  }
}
