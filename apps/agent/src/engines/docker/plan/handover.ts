import { replacedName } from '../containers/names.ts'
import type { Observation, PlannedInstance, PreviousContainer, ResolvedInstance, Step } from './steps.ts'

/**
 * The steps by which verified containers get the names of those that they replace. Between the two renames neither container answers to a
 * name, so new containers first have it as an alias on a handover network, which all possible clients join. Where no other container is on
 * the prefix's network, there are no clients, and the renames suffice.
 */
export function handoverSteps({
  changing,
  onNetwork,
  byId,
  observed,
  orphans,
  network,
  handoverNetwork,
  key,
}: {
  changing: readonly PlannedInstance[]
  onNetwork: (planned: PlannedInstance) => boolean
  byId: ReadonlyMap<string, ResolvedInstance>
  observed: Observation
  orphans: readonly PreviousContainer[]
  network: string
  handoverNetwork: string
  key: { deploymentId: string; number: number }
}): Step[] {
  const handedOver = changing.filter((planned) => planned.mode === 'beside' && onNetwork(planned))
  const there = observed.owned.filter(({ networks }) => networks.some(({ name }) => name === network))
  const isAlone = changing.length === 1 && there.every(({ id }) => id === changing[0]?.previous?.id)
  const steps: Step[] = []
  if (handedOver.length > 0 && !isAlone) {
    const peers = there.filter(
      ({ id, state, networks }) =>
        state === 'running' &&
        !networks.some(({ name }) => name === handoverNetwork) &&
        !changing.some(({ previous }) => previous?.id === id) &&
        !orphans.some((orphan) => orphan.id === id),
    )
    steps.push({ kind: 'network.ensure', network: handoverNetwork, internal: true })
    for (const { id, name } of peers)
      steps.push({
        kind: 'network.join',
        target: { kind: 'previous', id, name },
        network: handoverNetwork,
        aliases: [],
      })
    for (const planned of changing.filter((candidate) => candidate.mode !== 'beside' && onNetwork(candidate))) {
      steps.push({
        kind: 'network.join',
        target: { kind: 'new', instanceId: planned.instanceId },
        network: handoverNetwork,
        aliases: [],
      })
    }
    for (const { instanceId, full } of handedOver) {
      const short = byId.get(instanceId)?.config.name ?? full
      steps.push({
        kind: 'network.join',
        target: { kind: 'new', instanceId },
        network: handoverNetwork,
        aliases: [short, full],
      })
    }
  }
  for (const { full, previous } of changing) {
    if (previous?.name !== full) continue
    steps.push({
      kind: 'container.rename',
      target: { kind: 'previous', id: previous.id, name: previous.name },
      from: full,
      to: replacedName(full, key),
    })
  }
  for (const { instanceId, full, createName } of changing) {
    if (createName !== full)
      steps.push({ kind: 'container.rename', target: { kind: 'new', instanceId }, from: createName, to: full })
  }
  return steps
}
