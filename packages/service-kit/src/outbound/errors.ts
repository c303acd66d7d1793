import { errorCode } from '../errors.ts'

export type OutboundErrorCode =
  | 'invalidUrl'
  | 'refused'
  | 'unresolved'
  | 'unreachable'
  | 'tls'
  | 'timeout'
  | 'tooLarge'
  | 'redirects'
  | 'protocol'

/** The reason why a request to an external address failed. The message may be shown to the user who entered the address. */
export class OutboundError extends Error {
  override name = 'OutboundError'
  readonly code: OutboundErrorCode

  constructor(code: OutboundErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Converts errors of undici, net and tls. */
export function toOutboundError(error: unknown, url: URL): OutboundError {
  if (error instanceof OutboundError) return error
  const code = getCode(error)
  const host = url.host
  if (isTimeout(error, code)) return new OutboundError('timeout', `${host} did not answer in time`, { cause: error })
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|SSL|TLS|EPROTO/.test(code)) {
    return new OutboundError('tls', `no trusted TLS connection to ${host} (${code})`, { cause: error })
  }
  if (/^(ECONN|EHOST|ENET|EPIPE|EADDR|UND_ERR_SOCKET|UND_ERR_CONNECT)/.test(code)) {
    return new OutboundError('unreachable', `${host} cannot be reached (${refusals[code] ?? code})`, { cause: error })
  }
  return new OutboundError('protocol', `${host} did not answer as HTTP does`, { cause: error })
}

/** Readable texts for system error codes; other codes are shown unchanged. */
const refusals: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  UND_ERR_SOCKET: 'connection closed',
}

function isTimeout(error: unknown, code: string): boolean {
  const name = error instanceof Error ? error.name : ''
  return name === 'TimeoutError' || /TIMEDOUT|TIMEOUT/.test(code)
}

/** The first useful code: when every address of a name fails, Node throws an AggregateError that contains the actual errors. */
function getCode(error: unknown): string {
  if (typeof error !== 'object' || error === null) return ''
  const errors: unknown = 'errors' in error ? error.errors : undefined
  return (
    errorCode(error) ||
    getCode('cause' in error ? error.cause : undefined) ||
    (Array.isArray(errors) ? getCode(errors[0]) : '')
  )
}
