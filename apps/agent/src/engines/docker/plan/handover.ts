import { replacedName } from '../containers/names.ts'
import type { Observation, PlannedInstance, PreviousContainer, ResolvedInstance, Step, Target } from './steps.ts'

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
  const join = (target: Target, aliases: string[] = []): Step => ({
    kind: 'network.join',
    target,
    network: handoverNetwork,
    aliases,
  })
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
    for (const { id, name } of peers) steps.push(join({ kind: 'previous', id, name }))
    for (const planned of changing)
      if (planned.mode !== 'beside' && onNetwork(planned))
        steps.push(join({ kind: 'new', instanceId: planned.instanceId }))
    for (const { instanceId, full } of handedOver)
      steps.push(join({ kind: 'new', instanceId }, [byId.get(instanceId)?.config.name ?? full, full]))
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
