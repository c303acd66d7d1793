import type { Release } from '@crux/agent-protocol'
import { z } from 'zod'
import { isOfRelease, isOwnedBy } from '../../labels.ts'
import { fullName } from '../../names.ts'
import type { ContainerEngine } from '../containers/container-engine.ts'
import type { Plan } from '../plan/steps.ts'
import { retryWhileUnavailable } from './retry-while-unavailable.ts'

const Named = z.object({ name: z.string() })

/** Whether the containers that existed before this release run now. */
export async function previousContainersRun(
  engine: Pick<ContainerEngine, 'observeAll'>,
  release: Release,
  plan: Plan | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const { owner, key } = release
  if (!owner || !key) return false
  const all = await retryWhileUnavailable(() => engine.observeAll(), signal)
  const mustRun = new Set(plan?.instances.flatMap(({ previous }) => (previous?.wasRunning ? [previous.id] : [])))
  if ([...mustRun].some((id) => !all.some((container) => container.id === id && container.running))) return false
  const names = new Set([
    ...release.previous.map(({ containerName }) => containerName),
    ...shortNames(release).map((name) => fullName(owner.prefix, name)),
  ])
  return all.some(
    ({ labels, name, running }) => running && names.has(name) && isOwnedBy(labels, owner) && !isOfRelease(labels, key),
  )
}

function shortNames(release: Release): string[] {
  return release.instances.flatMap(({ configJson }) => {
    try {
      return [Named.parse(JSON.parse(configJson)).name]
    } catch {
      return []
    }
  })
}
