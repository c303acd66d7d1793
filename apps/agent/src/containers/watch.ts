import { create } from '@bufbuild/protobuf'
import { type Container, ContainerSchema, ContainerState } from '@crux/agent-protocol'
import type { Driver, EngineEvent } from '../drivers/driver.ts'
import { isEngineError } from '../drivers/errors.ts'
import { label } from '../plan/labels.ts'

export interface ContainerUpdate {
  full: boolean
  containers: Container[]
}

/**
 * The containers of a node (or a prefix): first all of them, then those that change, until the signal. Changes that
 * come while one update is being made go together into the next, so a burst costs one message and a single event none
 * of its speed. After a gap in the engine's events everything is looked at again and only differences are told.
 */
export async function* watchContainers(
  driver: Driver,
  options: { prefix: string | undefined; signal: AbortSignal },
): AsyncGenerator<ContainerUpdate> {
  const { prefix, signal } = options
  const known = new Map<string, Container>()
  const dirty = new Set<string>()
  let relist = false
  let wake: () => void = () => undefined

  const note = (event: EngineEvent) => {
    if (event.kind === 'relist') relist = true
    else if (prefix === undefined || event.labels[label.prefix] === prefix || known.has(event.id)) dirty.add(event.id)
    wake()
  }
  const unsubscribe = driver.subscribe(note)
  const stop = () => wake()
  signal.addEventListener('abort', stop)
  try {
    let first = true
    while (!signal.aborted) {
      if (first || relist) {
        relist = false
        dirty.clear()
        const all = await driver.list(prefix === undefined ? {} : { prefix }).catch(whenAway)
        if (all === undefined) {
          // The subscription says `relist` once the engine is back.
        } else if (first) {
          first = false
          for (const container of all) known.set(container.engineId, container)
          yield { full: true, containers: all }
          continue
        } else {
          const containers = differences(known, all)
          if (containers.length > 0) yield { full: false, containers }
          continue
        }
      } else if (dirty.size > 0) {
        const ids = [...dirty]
        dirty.clear()
        const seen = await driver.view(ids).catch(whenAway)
        if (seen) {
          const containers = changes(known, ids, seen)
          if (containers.length > 0) yield { full: false, containers }
        }
        continue
      }
      await new Promise<void>((resolve) => {
        wake = resolve
        if (signal.aborted || relist || dirty.size > 0) resolve()
      })
    }
  } finally {
    signal.removeEventListener('abort', stop)
    unsubscribe()
  }
}

function differences(known: Map<string, Container>, all: Container[]): Container[] {
  const seen = new Set(all.map((container) => container.engineId))
  return changes(known, [...new Set([...known.keys(), ...seen])], all)
}

/** Brings `known` up to date for the given ids and returns what changed, the vanished ones as removed. */
function changes(known: Map<string, Container>, ids: readonly string[], seen: Container[]): Container[] {
  const byId = new Map(seen.map((container) => [container.engineId, container]))
  const changed: Container[] = []
  for (const id of ids) {
    const before = known.get(id)
    const now = byId.get(id)
    if (now) {
      known.set(id, now)
      if (!before || fingerprint(before) !== fingerprint(now)) changed.push(now)
    } else if (before) {
      known.delete(id)
      changed.push(create(ContainerSchema, { ...before, state: ContainerState.REMOVED, reason: 'Removed' }))
    }
  }
  return changed
}

function fingerprint(container: Container): string {
  const { ref, state, reason, exitCode, health, restartCount, startedAt, ports } = container
  return JSON.stringify([
    ref?.prefix,
    ref?.name,
    state,
    reason,
    exitCode,
    health,
    restartCount,
    String(startedAt?.seconds),
    ports,
  ])
}

function whenAway(error: unknown): undefined {
  if (!isEngineError(error, 'away')) throw error
}
