interface IdentityErrorOptions {
  message?: string
  reason?: string
  id?: string
  details?: Record<string, unknown>
  /** Additional fields at the top level of the body: `redirect_browser_to`, `use_flow_id`, `expired_at`, `since`. */
  beside?: Record<string, unknown>
  headers?: Record<string, string>
  cause?: unknown
}

/** An expected error, in the format of Ory Kratos: `{error: {code, status, message, reason?, id?, details?}}`. */
export class IdentityError extends Error {
  override name = 'IdentityError'
  readonly code: keyof typeof statuses
  readonly headers: Record<string, string>
  readonly #options: IdentityErrorOptions

  constructor(code: keyof typeof statuses, options: IdentityErrorOptions = {}) {
    super(options.message ?? statuses[code][1], { cause: options.cause })
    this.code = code
    this.headers = options.headers ?? {}
    this.#options = options
  }

  /** Fields without a value are absent from the JSON of the body. */
  toBody(): { error: Record<string, unknown> } & Record<string, unknown> {
    const { code, message } = this
    const { id, reason, details, beside } = this.#options
    return { error: { id, code, status: statuses[code][0], reason, details, message }, ...beside }
  }
}

/** The text of each status, and the message of an error that has none of its own. */
const statuses = {
  400: ['Bad Request', 'The request was malformed or contained invalid parameters'],
  401: ['Unauthorized', 'The request could not be authorized'],
  403: ['Forbidden', 'The requested action was forbidden'],
  404: ['Not Found', 'The requested resource could not be found'],
  409: ['Conflict', 'The resource could not be created due to a conflict'],
  410: ['Gone', 'The requested resource is no longer available'],
  413: ['Request Entity Too Large', 'The request is too large'],
  421: ['Misdirected Request', 'The request is for another host'],
  422: ['Unprocessable Entity', 'The request cannot be completed as it is'],
  429: ['Too Many Requests', 'Too many requests, please try again later'],
  500: ['Internal Server Error', 'An internal server error occurred, please contact the system administrator'],
  503: ['Service Unavailable', 'The service is unavailable, please try again later'],
} as const

export const badRequest = (reason: string, id?: string) => new IdentityError(400, { reason, id })
/** The error for a missing row. It is the only 404 without a reason. */
export const noSuchRow = () => new IdentityError(404, { message: 'Unable to locate the resource' })
export const noSuchFlow = (kind: string) =>
  new IdentityError(404, { reason: `The ${kind} request could not be found, please start again.` })
export const malformedUuid = (value: string) => new IdentityError(400, { message: `uuid: incorrect UUID "${value}"` })
export const flowParameterMissing = () => badRequest('The flow query parameter is missing or malformed.')

export const csrfViolation = (hint: string) =>
  new IdentityError(403, {
    id: 'security_csrf_violation',
    message: 'the request was rejected to protect you from Cross-Site-Request-Forgery',
    reason: 'Please start again; if that does not help, delete the cookies of this site.',
    details: { hint },
  })

export const sessionAlreadyAvailable = (what: string) =>
  new IdentityError(400, {
    id: 'session_already_available',
    message: 'you are already logged in',
    reason: `There is a valid session, so ${what} is not possible.`,
  })

export const sessionInactive = () =>
  new IdentityError(401, {
    id: 'session_inactive',
    message: 'request does not have a valid authentication session',
    reason: 'No active session was found in this request.',
  })

/** The user is signed in, but authenticated too long ago for this request. */
export const sessionStale = (redirectTo: string) =>
  new IdentityError(403, {
    id: 'session_refresh_required',
    message: 'The requested action was forbidden',
    reason: 'The login session is too old and thus not allowed to update these fields. Please re-authenticate.',
    beside: { redirect_browser_to: redirectTo },
  })

export const aal1Required = () =>
  new IdentityError(401, {
    id: 'session_aal1_required',
    message: 'aal2 and aal3 can only be requested if a session exists already',
    reason: 'A second factor can only be asked for after the first.',
  })

/** The user has a second factor that this session has not proven. */
export const aal2Required = (redirectTo: string) =>
  new IdentityError(403, {
    id: 'session_aal2_required',
    message: 'Session does not fulfill the requested Authenticator Assurance Level',
    reason: 'There is a session, but it lacks the second factor. Please confirm it.',
    details: { redirect_browser_to: redirectTo },
    beside: { redirect_browser_to: redirectTo },
  })

/** Returns the address at which the browser has to continue to a single-page application. */
export const locationChangeRequired = (redirectTo: string) =>
  new IdentityError(422, {
    id: 'browser_location_change_required',
    message: 'browser location change required',
    reason: `In order to complete this flow please redirect the browser to: ${redirectTo}`,
    beside: { redirect_browser_to: redirectTo },
  })

export const identityDisabled = () =>
  new IdentityError(401, { message: 'identity is disabled', reason: 'This account was disabled.' })

export const identityMismatch = () =>
  new IdentityError(403, {
    id: 'security_identity_mismatch',
    reason: 'The request was made for another identity and has been blocked for security reasons.',
  })

export const noCredentials = (reason: string) => new IdentityError(401, { reason })

export const tooManyRequests = (retryAfterSeconds: number) =>
  new IdentityError(429, {
    id: 'rate_limited',
    reason: `Please try again in ${retryAfterSeconds} s.`,
    headers: { 'retry-after': String(retryAfterSeconds) },
  })

export const flowExpired = (expiredAt: Date, newFlowId?: string) =>
  new IdentityError(410, {
    id: 'self_service_flow_expired',
    message: 'self-service flow expired',
    reason: 'This page has expired, please start again.',
    beside: newFlowId
      ? { use_flow_id: newFlowId, expired_at: expiredAt.toISOString(), since: (Date.now() - expiredAt.getTime()) * 1e6 }
      : {},
  })

export const flowReplaced = (newFlowId: string, reason: string) =>
  new IdentityError(410, {
    id: 'self_service_flow_replaced',
    message: 'self-service flow replaced',
    reason,
    beside: { use_flow_id: newFlowId },
  })

export const flowDisabled = (reason: string) => badRequest(reason, 'self_service_flow_disabled')
