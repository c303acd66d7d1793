/** The kinds of errors of any engine. Drivers translate foreign errors into these; the messages are written for users. */
export type EngineErrorKind =
  /** The engine does not answer; another attempt may succeed. */
  | 'unavailable'
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
