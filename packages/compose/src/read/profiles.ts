import type { NotKept } from '../model.ts'
import { findPosition, getEntry, getText, type MapNode, mapEntries, withEntry } from './nodes.ts'

/** Leaves out services that have profiles of which none is active; services without profiles always stay. */
export function applyProfiles(root: MapNode, active: readonly string[]): { root: MapNode; notKept: NotKept[] } {
  const services = getEntry(root, 'services')
  if (services?.kind !== 'map') return { root, notKept: [] }
  const notKept: NotKept[] = []
  const kept = mapEntries(services, (service, name) => {
    const list = getEntry(service, 'profiles')
    const profiles = list?.kind === 'list' ? list.items.flatMap((item) => getText(item) ?? []) : []
    if (profiles.length === 0 || active.includes('*') || profiles.some((profile) => active.includes(profile)))
      return service
    const names = profiles.map((profile) => `"${profile}"`).join(', ')
    notKept.push({
      ...findPosition(root, ['services', name]),
      path: `services.${name}`,
      service: name,
      reason: `The service belongs to ${profiles.length > 1 ? 'the profiles' : 'the profile'} ${names}, and no such profile is active.`,
    })
    return undefined
  })
  return { root: withEntry(root, 'services', kept), notKept }
}
