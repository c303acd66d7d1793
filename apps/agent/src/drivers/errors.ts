/**
 * What an engine can answer, whichever it is. Drivers translate their foreign errors into these; the messages are
 * written for a person.
 */
export type EngineErrorKind =
  /** The engine does not answer; worth another try. */
  | 'away'
  | 'not-found'
  | 'conflict'
  /** A registry refused the credentials, or asks for some. */
  | 'unauthorized'
  /** A registry does not answer. */
  | 'registry-away'
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

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
