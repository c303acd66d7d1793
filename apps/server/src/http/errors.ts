import { CruxError } from '@crux/contract'
import { getField } from '@crux/service-kit'

/**
 * Converts everything that may be thrown to an error of the catalogue; an unexpected one is an internalError that keeps
 * its cause.
 */
export function toCruxError(error: unknown): CruxError {
  if (error instanceof CruxError) return error
  return fromFastify(error) ?? fromPostgres(error) ?? new CruxError('internalError', { cause: error })
}

function fromFastify(error: unknown): CruxError | undefined {
  const [code, statusCode] = [getField(error, 'code'), getField(error, 'statusCode')]
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new CruxError('payloadTooLarge')
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new CruxError('unsupportedMediaType')
  if (error instanceof SyntaxError || code === 'FST_ERR_CTP_INVALID_JSON_BODY')
    return new CruxError('invalidArgument', { property: 'body', description: 'The body is not valid JSON.' })
  // The body broke off: the lost connection is the client's, not that of the database.
  if (code === 'ECONNRESET' && statusCode === 400)
    return new CruxError('invalidArgument', { property: 'body', description: 'The body did not arrive completely.' })
  // A path that names another file than it seems to (`..`, `//`, a null character) is no file.
  if (code === 'FST_STATIC_FORBIDDEN_PATH') return new CruxError('notFound', { property: 'path' })
  if (typeof code !== 'string' || !code.startsWith('FST_ERR') || typeof statusCode !== 'number') return undefined
  if (statusCode === 503) return new CruxError('serviceUnavailable')
  return statusCode < 500
    ? new CruxError('invalidArgument', { description: 'The request cannot be read.', cause: error })
    : undefined
}

/** Codes: PostgreSQL, appendix A. Drizzle wraps the driver's error as cause. */
function fromPostgres(error: unknown): CruxError | undefined {
  let current = error
  for (let depth = 0; current && depth < 4; depth++, current = getField(current, 'cause')) {
    const code = getField(current, 'code')
    if (typeof code !== 'string') continue
    if (code === '23505') return duplicate(String(getField(current, 'constraint') ?? ''), error)
    if (code === '23503' || code === '23001')
      return new CruxError('preconditionFailed', {
        description: 'Something that this depends on has changed or is still in use.',
        cause: error,
      })
    // Half of a surrogate pair is a syntax error for JSON columns.
    const isHalf = code === '22P02' && /^Unicode .* surrogate/.test(String(getField(current, 'detail') ?? ''))
    if (code === '22021' || code === '22P05' || isHalf)
      return new CruxError('invalidArgument', {
        description: 'A text contains a character that cannot be stored.',
        cause: error,
      })
    // ENOENT concerns the database only when its socket is missing, not a file of ours.
    if (
      /^(08|57P0)|^ECONN|^ETIMEDOUT$|^EPIPE$/.test(code) ||
      (code === 'ENOENT' && getField(current, 'syscall') === 'connect')
    )
      return new CruxError('serviceUnavailable', { property: 'database', cause: error })
  }
  return /Connection terminated|timeout exceeded when trying to connect/.test(messages(error))
    ? new CruxError('serviceUnavailable', { property: 'database', cause: error })
    : undefined
}

function duplicate(constraint: string, cause: unknown): CruxError {
  const property = /_(name|slug)(_|$)/.exec(constraint)?.[1]
  return new CruxError('alreadyExists', {
    property,
    description: property && `This ${property} is taken already.`,
    cause,
  })
}

function messages(error: unknown): string {
  const cause = getField(error, 'cause')
  return `${String(getField(error, 'message') ?? '')} ${cause ? messages(cause) : ''}`
}
