import { isEngineError } from '../../../errors.ts'
import { isOfRelease, isOwnedBy, label } from '../../labels.ts'
import type { ContainerSummary, Driver } from '../containers/container-engine.ts'
import type { Target } from '../plan/steps.ts'
import type { ReleaseContext, StepContext } from './release-context.ts'

/** Finds the release's own container of an instance by its labels; undefined when there is none. */
export async function findOwn(
  { node, release }: Pick<ReleaseContext, 'node' | 'release'>,
  instanceId: string,
): Promise<string | undefined> {
  const created = await observeCreated({ node, release })
  return created.find(({ labels }) => !labels[label.preparationOf] && labels[label.instance] === instanceId)?.id
}

/** The containers that the release itself has created, for instances and for their preparations. */
export async function observeCreated({
  node,
  release: { owner, key },
}: Pick<ReleaseContext, 'node' | 'release'>): Promise<ContainerSummary[]> {
  if (!owner || !key) return []
  const all = await node.driver.engine.observeAll()
  return all.filter(({ labels }) => isOwnedBy(labels, owner) && isOfRelease(labels, key))
}

/** The engine id of a step's container. */
export function getId({ state }: StepContext, target: Target): string {
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
