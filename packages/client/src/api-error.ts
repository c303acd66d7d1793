/** The error body of the API, as a class that callers can catch. */
export type ApiErrorBody = {
  status: number
  error: string
  property?: string
  value?: unknown
  description: string
  /** Further problems after the first one, each with its own property. */
  details?: { property?: string; error: string; description: string }[]
  requestId?: string
  /** Seconds until the same request may succeed. */
  retryAfterS?: number
}

/**
 * A call that the server refused, that never reached it (`status` 0, `error` 'networkError'), or that got no answer ('noAnswer', 'unknownOutcome').
 */
export class ApiError extends Error {
  readonly status: number
  readonly error: string
  readonly property: string | undefined
  readonly value: unknown
  readonly description: string
  readonly details: NonNullable<ApiErrorBody['details']>
  readonly requestId: string | undefined
  /** When the same request may succeed (milliseconds since 1970), where a limit of requests refused it over the live channel. */
  readonly retryAt: number | undefined

  constructor(body: ApiErrorBody, options?: ErrorOptions) {
    super(body.description, options)
    this.name = 'ApiError'
    this.status = body.status
    this.error = body.error
    this.property = body.property
    this.value = body.value
    this.description = body.description
    this.details = body.details ?? []
    this.requestId = body.requestId
    this.retryAt = body.retryAfterS === undefined ? undefined : Date.now() + body.retryAfterS * 1_000
  }
}

/**
 * Parses an error answer. A body is recognized by `error` and `description`; the format of the framework (`message`) is supported too. Anything else
 * becomes UNKNOWN, so that users never see the HTML page of a proxy.
 */
export function readErrorBody(status: number, body: unknown, requestId: string | undefined): ApiError {
  const fields: Record<string, unknown> = typeof body === 'object' && body !== null ? { ...body } : {}
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : undefined)
  const description = text('description') ?? text('message')
  return new ApiError({
    status,
    error: text('error') ?? 'UNKNOWN',
    property: text('property'),
    value: fields.value,
    description: description ?? 'Unknown error',
    details: Array.isArray(fields.details) ? fields.details : undefined,
    requestId: text('requestId') ?? requestId,
  })
}
