import { PlanError } from '../../../errors.ts'
import { isInside } from '../../../files/host-paths.ts'
import type { DesiredInstance } from '../plan/container-spec.ts'
import type { BindSources } from '../volumes/bind-sources.ts'
import { toPlanError } from './start-and-verify.ts'

/**
 * Checks everything that a release would mount, before it changes anything. A path of the node may lie inside another path of the same
 * release only if nothing writes either of them: a writer of the outer path could replace the inner one by a link.
 *
 * @throws PlanError that names the instance
 */
export async function checkSources(sources: BindSources, desired: readonly DesiredInstance[]): Promise<void> {
  const written = new Set(desired.flatMap((instance) => [...instance.written]))
  const paths = new Map<string, { instanceId: string; source: string; path: string }>()
  for (const { instanceId, base } of desired) {
    for (const { kind, source } of base.mounts) {
      if (kind !== 'bind' || paths.has(source)) continue
      try {
        paths.set(source, { instanceId, source, path: await sources.checkPlanned(source) })
      } catch (error) {
        throw toPlanError(error, instanceId)
      }
    }
  }
  const all = [...paths.values()]
  for (const inner of all) {
    const outer = all.find(
      ({ source, path }) => isInside(inner.path, path) && (written.has(source) || written.has(inner.source)),
    )
    if (outer)
      throw new PlanError(
        inner.instanceId,
        `${inner.source} of the node lies inside ${outer.source}, which this release mounts too: mount only one of them, or both read-only`,
      )
  }
}
