import { EngineError, PlanError } from '../../../errors.ts'

/** What works on which prefix. A release and a deletion of one prefix never run at the same time: the one that comes second is refused. */
export class PrefixUse {
  /** How many releases are in progress, by prefix. */
  readonly #releases = new Map<string, number>()
  readonly #deletions = new Set<string>()

  async duringRelease<T>(prefix: string, work: () => Promise<T>): Promise<T> {
    this.#count(prefix, 1)
    try {
      return await work()
    } finally {
      this.#count(prefix, -1)
    }
  }

  /** @throws EngineError `conflict` while a release or another deletion of the prefix is in progress */
  async duringDeletion<T>(prefix: string, work: () => Promise<T>): Promise<T> {
    if ((this.#releases.get(prefix) ?? 0) > 0)
      throw new EngineError(
        'conflict',
        `A release to ${prefix} is in progress, so that nothing of it is deleted: try again when it has ended`,
      )
    if (this.#deletions.has(prefix))
      throw new EngineError('conflict', `Data of ${prefix} is being deleted already: try again when that has ended`)
    this.#deletions.add(prefix)
    try {
      return await work()
    } finally {
      this.#deletions.delete(prefix)
    }
  }

  /** @throws PlanError for a release that starts during a deletion */
  assertNotDeleting(prefix: string): void {
    if (this.#deletions.has(prefix))
      throw new PlanError('', `data of the prefix ${prefix} is being deleted: deploy again when that has ended`)
  }

  #count(prefix: string, by: number): void {
    const releases = (this.#releases.get(prefix) ?? 0) + by
    if (releases > 0) this.#releases.set(prefix, releases)
    else this.#releases.delete(prefix)
  }
}
