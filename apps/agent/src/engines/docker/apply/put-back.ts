import type { Release } from '@crux/agent-protocol'
import { z } from 'zod'
import { getMessage } from '../../../errors.ts'
import { parseJson } from '../../../files/parse-json.ts'
import { isOfRelease, isOwnedBy } from '../../labels.ts'
import { fullName } from '../../names.ts'
import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
import type { ContainerEngine } from '../containers/container-engine.ts'
import { handoverNetworkName, networkName } from '../containers/names.ts'
import type { Plan } from '../plan/steps.ts'
import { execute } from './executors.ts'
import { type ReleaseContext, type StepContext, toFinalContext } from './release-context.ts'

/** Restores the previous state, and reports what could not be restored and whether the previous containers run. */
export async function putBack(
  context: ReleaseContext,
  plan: Plan | undefined,
): Promise<{ problems: string[]; previousRestored: boolean }> {
  const { control, node, release } = context
  const { engine } = node.driver
  const problems = plan ? await undo(toFinalContext(context, plan)) : []
  const { owner } = release
  for (const name of owner ? [handoverNetworkName(owner), networkName(owner)] : [])
    await engine.removeNetworkIfUnused(name).catch(() => undefined)
  return {
    problems,
    previousRestored: problems.length === 0 && (await previousContainersRun(engine, release, plan, control.ending)),
  }
}

/**
 * Restores the previous state whatever had been done: every step first reads the current state. Waits indefinitely while the engine is
 * unavailable.
 */
async function undo(context: StepContext): Promise<string[]> {
  const problems: string[] = []
  for (const group of context.plan.undo) {
    const results = await Promise.allSettled(group.map((step) => execute(step, context)))
    context.signal.throwIfAborted()
    for (const result of results) if (result.status === 'rejected') problems.push(getMessage(result.reason))
  }
  for (const problem of problems) context.progressReporter.error('', `could not be put back: ${problem}`)
  return problems
}

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

const shortNames = (release: Release): string[] =>
  release.instances.flatMap(({ configJson }) => parseJson(Named, configJson)?.name ?? [])
