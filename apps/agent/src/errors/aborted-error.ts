/** The reason why a release is stopped from outside. */
export class AbortedError extends Error {
  override name = 'AbortedError'
  readonly kind: 'cancelled' | 'abandoned' | 'shutdown'

  constructor(kind: 'cancelled' | 'abandoned' | 'shutdown') {
    super(
      kind === 'cancelled'
        ? 'cancelled'
        : kind === 'abandoned'
          ? 'the server no longer counts on this release: the agent was unavailable for too long'
          : 'the agent stops',
    )
    this.kind = kind
  }
}
