import { Operation } from '@crux/agent-protocol'
import { getOwner, label } from '../../labels.ts'
import type { Driver } from '../containers/container-engine.ts'

/**
 * Adds one rule to the driver: for every caller, the sources of the bind mounts of a team's container are checked before the container is
 * created or started. The gate's own container mounts the data directory and is exempt.
 *
 * @param check throws for a source that must not be given to the engine
 */
export function checkingMounts(driver: Driver, check: (sources: readonly string[]) => Promise<void>): Driver {
  const { engine } = driver
  /** Sources of containers that were created here and not started yet: no request to the engine is needed for them. */
  const created = new Map<string, readonly string[]>()

  async function checkContainer(id: string): Promise<void> {
    const known = created.get(id)
    created.delete(id)
    if (known) return check(known)
    const { labels, mounts } = await engine.observe(id)
    if (getOwner(labels)) await check(bindSources(mounts))
  }

  return {
    ...driver,
    engine: {
      ...engine,
      async create(spec) {
        if (spec.labels[label.getGate] !== undefined) return engine.create(spec)
        const sources = bindSources(spec.mounts)
        await check(sources)
        const id = await engine.create(spec)
        created.set(id, sources)
        return id
      },
      async start(id) {
        await checkContainer(id)
        return engine.start(id)
      },
      discard(id, options) {
        created.delete(id)
        return engine.discard(id, options)
      },
    },
    async operate(id, operation) {
      if (operation === Operation.START || operation === Operation.RESTART) await checkContainer(id)
      return driver.operate(id, operation)
    },
  }
}

/** Memory has no source, and a volume that the engine made has a name instead of a path. */
const bindSources = (mounts: readonly { source: string }[]) =>
  mounts.map(({ source }) => source).filter((source) => source.startsWith('/'))
