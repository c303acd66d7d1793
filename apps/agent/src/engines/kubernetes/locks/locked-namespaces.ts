import type { Logger } from '@crux/service-kit'
import { z } from 'zod'
import { getMessage } from '../../../errors.ts'
import { parseJson } from '../../../files/parse-json.ts'
import type { Records } from '../../../state/agent-state.ts'
import type { PrefixTarget } from '../../engine.ts'
import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { unlockNamespace } from './namespace-lock.ts'

const Locked = z.array(
  z.object({
    prefix: z.string(),
    scope: z.object({ teamId: z.string(), nodeId: z.string(), deletedNodeIds: z.array(z.string()) }),
  }),
)
const record = 'locked-namespaces.json'

/** The namespaces that this agent has locked for their deletion. They are remembered, so that none stays locked when the process is killed. */
export class LockedNamespaces {
  readonly #cluster: Cluster
  readonly #records: Pick<Records, 'read' | 'write' | 'remove'>
  readonly #log: Logger
  /** By prefix. */
  readonly #locked = new Map<string, PrefixTarget>()
  #writing: Promise<void> = Promise.resolve()

  constructor(cluster: Cluster, records: Pick<Records, 'read' | 'write' | 'remove'>, log: Logger) {
    this.#cluster = cluster
    this.#records = records
    this.#log = log
  }

  /** Unlocks what an earlier process has left. Call it before anything is locked. */
  async unlockLeft(signal: AbortSignal): Promise<void> {
    for (const target of parseJson(Locked, await this.#records.read(record)) ?? []) {
      try {
        await retryWhileUnavailable(() => unlockNamespace(this.#cluster, target), signal)
        this.#log.info({ namespace: target.prefix }, 'a namespace is unlocked that an interrupted deletion had locked')
      } catch (error) {
        if (signal.aborted) return
        this.#locked.set(target.prefix, target)
        this.#log.warn({ namespace: target.prefix, reason: getMessage(error) }, 'a namespace stays locked')
      }
    }
    await this.#save()
  }

  /** Resolves when the process that follows would know of the lock. */
  async remember(target: PrefixTarget): Promise<void> {
    this.#locked.set(target.prefix, target)
    await this.#save()
  }

  async forget(prefix: string): Promise<void> {
    this.#locked.delete(prefix)
    await this.#save()
  }

  /** One write after another: the last one has everything. */
  #save(): Promise<void> {
    const next = this.#writing
      .catch(() => undefined)
      .then(() => {
        const targets = [...this.#locked.values()].map(({ prefix, scope: { deletedNodeIds, nodeId, teamId } }) => ({
          prefix,
          scope: { teamId, nodeId, deletedNodeIds },
        }))
        return targets.length > 0 ? this.#records.write(record, JSON.stringify(targets)) : this.#records.remove(record)
      })
    this.#writing = next
    return next
  }
}
