import type { Owner } from '@crux/agent-protocol'
import type { Logger } from '@crux/service-kit'
import { KeyedLock } from '../../../concurrency/keyed-lock.ts'
import { EngineError, getMessage } from '../../../errors.ts'
import type { NodeScope } from '../../../scope/node-scope.ts'
import { label } from '../../labels.ts'
import type { ContainerEngine } from '../containers/container-engine.ts'
import { isMadeByCrux, teamNetworkLabels } from '../plan/networks.ts'

/** The networks that the containers of a team share on this node: created with the first container, removed with the last one. */
export interface TeamNetworks {
  /** Protects networks from removal while a release is in progress that will join them. Returns a function that ends the protection. */
  claim(names: readonly string[]): () => void
  /** @throws EngineError when a network of that name exists and is not the team's */
  ensure(network: { name: string; key: string }, owner: Pick<Owner, 'teamId' | 'nodeId'>): Promise<void>
  /** Removes those that no container, running or not, and no release in progress needs. */
  removeUnused(): Promise<void>
}

export function createTeamNetworks(options: {
  engine: ContainerEngine
  scope: Pick<NodeScope, 'covers'>
  log: Logger
}): TeamNetworks {
  const { engine, scope, log } = options
  const locks = new KeyedLock()
  const claims = new Map<string, number>()

  function change(name: string, by: number): void {
    const count = (claims.get(name) ?? 0) + by
    if (count > 0) claims.set(name, count)
    else claims.delete(name)
  }

  return {
    claim(names) {
      for (const name of names) change(name, 1)
      let ended = false
      return () => {
        if (ended) return
        ended = true
        for (const name of names) change(name, -1)
      }
    },
    ensure: ({ name, key }, owner) =>
      locks.run(name, () => engine.ensureNetwork({ name, internal: false, labels: teamNetworkLabels(owner, key) })),
    async removeUnused() {
      try {
        // Includes networks of deleted nodes: their agents no longer exist, and a machine has room for few bridges.
        const all = await engine.observeNetworks(label.team)
        const own = all.filter(
          ({ labels, used }) => labels[label.teamNetwork] !== undefined && scope.covers(labels) && !used,
        )
        // A claim that arrives while its network is removed creates it again behind the lock.
        for (const { name } of own)
          await locks.run(name, async () => {
            if (!claims.has(name)) await engine.removeNetworkIfUnused(name)
          })
      } catch (error) {
        log.warn({ reason: getMessage(error) }, 'unused networks of the team could not be removed')
      }
    },
  }
}

/** @throws EngineError when the engine has no network of exactly this name, or Crux created it for a team or prefix */
export async function verifyEngineNetwork(engine: ContainerEngine, name: string): Promise<void> {
  const found = await engine.findNetworks(name)
  if (found.some(isMadeByCrux))
    throw new EngineError(
      'refused',
      `the network ${name} belongs to a prefix or a team and cannot be joined by its name`,
    )
  if (found.length === 0)
    throw new EngineError('refused', `the engine has no network ${name}: create it, or name a network of the team`)
  if (found.length > 1)
    throw new EngineError(
      'refused',
      `the engine has ${found.length} networks called ${name}: remove or rename all but one`,
    )
}
