import type { Release } from '@crux/agent-protocol'
import { isOwnedBy, label } from '../../labels.ts'
import type { Driver } from '../containers/driver.ts'
import { fullName } from '../containers/names.ts'
import type { Plan } from '../plan/steps.ts'
import { retryWhileUnavailable } from './retry-while-unavailable.ts'

/** Whether the containers that existed before this release run now. */
export async function previousContainersRun(
  { driver, ending }: { driver: Driver; ending: AbortSignal },
  release: Release,
  plan: Plan | undefined,
): Promise<boolean> {
  const { owner, key } = release
  if (!owner || !key) return false
  const all = await retryWhileUnavailable(() => driver.engine.observeAll(), ending)
  const mustRun = new Set(plan?.instances.flatMap(({ previous }) => (previous?.wasRunning ? [previous.id] : [])))
  if ([...mustRun].some((id) => !all.some((container) => container.id === id && container.running))) return false
  const names = new Set([
    ...release.previous.map(({ containerName }) => containerName),
    ...shortNames(release).map((name) => fullName(owner.prefix, name)),
  ])
  return all.some(
    ({ labels, name, running }) =>
      running &&
      names.has(name) &&
      isOwnedBy(labels, owner) &&
      !(labels[label.deployment] === key.deploymentId && labels[label.release] === String(key.number)),
  )
}

function shortNames(release: Release): string[] {
  return release.instances.flatMap(({ configJson }) => {
    try {
      const { name } = JSON.parse(configJson) as { name?: unknown }
      return typeof name === 'string' ? [name] : []
    } catch {
      return []
    }
  })
}
