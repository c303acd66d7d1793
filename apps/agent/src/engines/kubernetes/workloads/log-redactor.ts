import { createRedactor } from '../../../secrets/redaction.ts'
import type { LogChunkLine } from '../../engine.ts'
import type { Cluster, ObjectRef } from '../cluster/cluster.ts'
import { readSecretValues } from './inspection.ts'
import type { PodRecord } from './records.ts'

/**
 * Removes the values of secrets from the logs of a workload's pods: a program that prints its secrets would reveal them to all readers of its
 * log. A release may change the values while its workload's log is followed, so they are read again for each pod, and add up.
 */
export class LogRedactor {
  readonly #cluster: Pick<Cluster, 'get'>
  readonly #findWorkload: () => ObjectRef | undefined
  readonly #values = new Set<string>()
  #redact = createRedactor(this.#values)

  constructor(cluster: Pick<Cluster, 'get'>, findWorkload: () => ObjectRef | undefined) {
    this.#cluster = cluster
    this.#findWorkload = findWorkload
  }

  /**
   * Reads the values that containers of these pods may have. Each time that the log of a container is opened, this comes before its first line.
   *
   * @throws EngineError when they cannot be read: then no line may be shown
   */
  async include(pods: readonly PodRecord[]): Promise<void> {
    const workload = this.#findWorkload()
    const refs = [
      ...(workload ? [workload] : []),
      ...pods.map(({ name, namespace }) => ({ kind: 'Pod', namespace, name }) as const),
    ]
    const objects = await Promise.all(
      refs.map(({ kind, name, namespace }) => this.#cluster.get({ kind, namespace, name })),
    )
    const values = await readSecretValues(
      this.#cluster,
      objects.flatMap((object) => object ?? []),
    )
    const before = this.#values.size
    for (const value of values) this.#values.add(value)
    if (this.#values.size > before) this.#redact = createRedactor(this.#values)
  }

  redact(lines: LogChunkLine[]): LogChunkLine[] {
    return this.#values.size === 0 ? lines : lines.map((line) => ({ ...line, text: this.#redact(line.text) }))
  }
}
