import type { Journal } from '../../../journal/journal.ts'
import type { Watched } from './verify.ts'

/**
 * How far the steps of a release are. The journal has what cannot be seen on the engine, so that a restarted agent continues there; the
 * rest is found again by labels, or costs only a repeated request.
 */
export class ReleaseState {
  /** Whether an earlier process of this agent started the release. */
  readonly resumed: boolean
  /** Engine ids of the release's own containers that exist, by instance. */
  readonly containers = new Map<string, string>()
  /** Networks that are known to exist. */
  readonly networks = new Set<string>()
  readonly watched = new Map<string, { watched: Watched; startedAt: number }>()
  /** Volumes, by instance, whose files a preparation started to replace: a failed release does not restore them. */
  readonly overwritten: { instanceId: string; volume: string }[] = []
  readonly #journal: Journal

  constructor(journal: Journal, options: { resumed: boolean }) {
    this.#journal = journal
    this.resumed = options.resumed
  }

  /** Whether this process or an earlier one completed the preparation. */
  isPrepared(preparation: string): boolean {
    return this.#journal.state.done?.includes(preparation) ?? false
  }

  /** Resolves when the journal has stored that the preparation is complete. */
  async setPrepared(preparation: string): Promise<void> {
    await this.#journal.decide({ done: [...(this.#journal.state.done ?? []), preparation] })
  }
}
