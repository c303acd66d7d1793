/** The kinds of errors of any engine. Drivers translate foreign errors into these; the messages are written for users. */
export type EngineErrorKind =
  /** The engine does not answer; another attempt may succeed. */
  | 'unavailable'
  /** An admission webhook of the cluster does not answer. Its API server does; somebody may have to repair the webhook. */
  | 'webhook-unavailable'
  | 'not-found'
  | 'conflict'
  /** A registry refused the credentials, or requires some. */
  | 'unauthorized'
  /** A registry does not answer. */
  | 'registry-unavailable'
  | 'port-taken'
  | 'refused'
  | 'other'

export class EngineError extends Error {
  override name = 'EngineError'
  readonly kind: EngineErrorKind

  constructor(kind: EngineErrorKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

export function isEngineError(error: unknown, kind: EngineErrorKind): error is EngineError {
  return error instanceof EngineError && error.kind === kind
}

/** For `catch`: what does not exist is undefined, and every other error stays an error. */
export function undefinedIfMissing(error: unknown): undefined {
  if (!isEngineError(error, 'not-found')) throw error
}

/** Why a release does not start or continue, in a sentence for users. Nothing has been changed, or everything is restored. */
export class PlanError extends Error {
  override name = 'PlanError'
  /** Empty when it concerns the release as a whole. */
  readonly instanceId: string

  constructor(instanceId: string, reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.instanceId = instanceId
  }
}

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

export function getMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
