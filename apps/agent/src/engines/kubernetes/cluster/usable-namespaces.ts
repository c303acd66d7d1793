import type { Logger } from '@crux/service-kit'
import { isEngineError } from '../../../errors.ts'
import type { Cluster, ListFilter } from './cluster.ts'

/**
 * Of the namespaces that an agent is limited to, one may not exist: its owner deleted it, or has not made it yet. The API calls that a missing
 * right. It must not hide the others.
 */
export class UsableNamespaces {
  readonly #cluster: Pick<Cluster, 'get'>
  readonly #log: Logger
  readonly #missing = new Set<string>()

  constructor(cluster: Pick<Cluster, 'get'>, log: Logger) {
    this.#cluster = cluster
    this.#log = log
  }

  /** Whether the request failed because the agent knows nothing of the namespace. A single right that is missing is another error. */
  async isMissing(namespace: string | undefined, error: unknown): Promise<boolean> {
    if (namespace === undefined || !isEngineError(error, 'refused')) return false
    try {
      if (await this.#cluster.get({ kind: 'Namespace', namespace: '', name: namespace })) return false
    } catch (reason) {
      if (!isEngineError(reason, 'refused')) throw reason
    }
    if (!this.#missing.has(namespace))
      this.#log.warn({ namespace }, 'a namespace of this agent does not exist, or gives it no rights: it is left out')
    this.#missing.add(namespace)
    return true
  }

  found(namespace: string | undefined): void {
    if (namespace !== undefined && this.#missing.delete(namespace))
      this.#log.info({ namespace }, 'a namespace of this agent is there')
  }

  /** What is asked of each namespace, without those that are missing. @throws the first error when all of them are */
  async fromEach<T>(filters: readonly ListFilter[], ask: (filter: ListFilter) => Promise<T>): Promise<T[]> {
    const results = await Promise.allSettled(filters.map(ask))
    const found: T[] = []
    let failure: { error: unknown } | undefined
    for (const [index, result] of results.entries()) {
      if (result.status === 'fulfilled') found.push(result.value)
      else if (filters.length > 1 && (await this.isMissing(filters[index]?.namespace, result.reason)))
        failure ??= { error: result.reason }
      else throw result.reason
    }
    if (found.length === 0 && failure) throw failure.error
    return found
  }
}
