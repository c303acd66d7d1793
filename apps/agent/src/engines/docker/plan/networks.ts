import type { Owner } from '@crux/agent-protocol'
import type { FinalContainerConfig } from '@crux/contract'
import { networkKeyProblem, parseNetworkKey } from '@crux/rules'
import { getOwner, label } from '../../labels.ts'
import { isCruxNetworkName, teamNetworkName } from '../containers/names.ts'

type TeamOwner = Pick<Owner, 'teamId' | 'nodeId'>

/** A network that a configuration names, besides the prefix's own one. */
export interface DesiredNetwork {
  /** `team`: created and removed by the agent. `engine`: created by others, and only joined. */
  kind: 'team' | 'engine'
  /** As the configuration names it, without the word in front. */
  key: string
  /** Its name on the engine. */
  name: string
}

/** @throws Error with a sentence for users for a key that names no network, or one that the release may not join */
export function desiredNetworks(
  config: Pick<FinalContainerConfig, 'networks'>,
  owner: TeamOwner,
  options: { hostDangerousAllowed: boolean },
): DesiredNetwork[] {
  return config.networks.map(({ key }) => {
    const problem = networkKeyProblem(key)
    if (problem) throw new Error(`the network "${key}" cannot be joined: ${problem.description}`)
    const { kind, name } = parseNetworkKey(key)
    if (kind === 'engine' && !options.hostDangerousAllowed)
      throw new Error(`the network ${name} of the engine needs an admin's permission for host-dangerous options`)
    return { kind, key: name, name: kind === 'team' ? teamNetworkName(owner, name) : name }
  })
}

/** Labels that mark a network as the team's under this key. It belongs to no prefix. */
export function teamNetworkLabels(owner: TeamOwner, key: string): Record<string, string> {
  return { [label.team]: owner.teamId, [label.node]: owner.nodeId, [label.teamNetwork]: key }
}

/** Whether Crux created the network, for a prefix or a team: such a network is joined through its owner only. */
export function isMadeByCrux(network: { name: string; labels: Record<string, string> }): boolean {
  return (
    isCruxNetworkName(network.name) ||
    getOwner(network.labels) !== undefined ||
    network.labels[label.teamNetwork] !== undefined
  )
}
