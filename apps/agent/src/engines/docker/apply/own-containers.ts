import { isEngineError } from '../../../errors.ts'
import { isOfRelease, isOwnedBy, label } from '../../labels.ts'
import type { Driver } from '../containers/container-engine.ts'
import type { Target } from '../plan/steps.ts'
import type { ReleaseContext, StepContext } from './release-context.ts'

/** Finds the release's own container of an instance by its labels; undefined when there is none. */
export async function findOwn(
  { node, release }: Pick<ReleaseContext, 'node' | 'release'>,
  instanceId: string,
): Promise<string | undefined> {
  const { owner, key } = release
  if (!owner || !key) return undefined
  const own = (await node.driver.engine.observeAll()).find(
    ({ labels }) =>
      isOwnedBy(labels, owner) &&
      !labels[label.preparationOf] &&
      labels[label.instance] === instanceId &&
      isOfRelease(labels, key),
  )
  return own?.id
}

/** The engine id of a step's container. */
export function idOf({ state }: StepContext, target: Target): string {
  if (target.kind === 'previous') return target.id
  const id = state.containers.get(target.instanceId)
  if (!id) throw new Error(`the container of instance ${target.instanceId} does not exist`)
  return id
}

const linesMax = 100

/** The last lines that a container printed. */
export async function readLastLines(driver: Driver, id: string): Promise<string[]> {
  const lines: string[] = []
  try {
    for await (const chunk of driver.readLog(id, { take: linesMax, follow: false }))
      lines.push(...chunk.map(({ text }) => text))
  } catch (error) {
    // A log driver that cannot be read back returns nothing, and that fails no release.
    if (isEngineError(error, 'unavailable')) throw error
  }
  return lines.slice(-linesMax)
}
