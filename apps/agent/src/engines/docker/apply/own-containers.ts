import { isOwnedBy, label } from '../../labels.ts'
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
      labels[label.deployment] === key.deploymentId &&
      labels[label.release] === String(key.number),
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
