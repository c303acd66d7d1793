import { z } from 'zod'
import { validationSentence } from './validation-sentences.ts'

// Users read these texts, so schemas without a message of their own get a sentence of ours.
z.config({ localeError: validationSentence })

/** The closed error catalogue. Each code has one status and a default sentence. */
export const errorCatalogue = {
  invalidArgument: { status: 400, description: 'A value is not valid.' },
  missingParameter: { status: 400, description: 'A required parameter is missing.' },
  keysAreUnique: { status: 400, description: 'A key is there more than once.' },
  containerNameAreUnique: { status: 400, description: 'Two containers would have the same name.' },
  registryRateLimit: {
    status: 400,
    description: 'The registry answers that there were too many requests. Try again later.',
  },
  unauthorized: { status: 401, description: 'Sign in to go on.' },
  registryUnauthorized: { status: 401, description: 'The registry refuses these credentials.' },
  forbidden: { status: 403, description: 'Your role does not allow this.' },
  notFound: { status: 404, description: 'It does not exist, or not for you.' },
  alreadyExists: { status: 409, description: 'It exists already.' },
  rollingVersionDeployment: {
    status: 409,
    description: 'This version has a deployment with this node and prefix already.',
  },
  alreadyHavePreparing: {
    status: 409,
    description: 'This version has a deployment in preparation with this node and prefix already.',
  },
  patchConflict: { status: 409, description: 'Someone else changed this value meanwhile.' },
  preconditionFailed: { status: 412, description: 'This is not possible in the present state.' },
  payloadTooLarge: { status: 413, description: 'The request is too large.' },
  unsupportedMediaType: { status: 415, description: 'Send the request as JSON.' },
  misdirectedRequest: { status: 421, description: 'This request asks for another host.' },
  tooManyRequests: { status: 429, description: 'Too many attempts. Wait a moment.' },
  internalError: { status: 500, description: 'Something went wrong on our side. The request id helps to find it.' },
  badGateway: {
    status: 502,
    description: 'The agent of this node sent an answer that makes no sense. Update the agent, or look at its log.',
  },
  serviceUnavailable: { status: 503, description: 'A part of Crux is not reachable. Try again in a moment.' },
} as const satisfies Record<string, { status: number; description: string }>

export type ErrorCode = keyof typeof errorCatalogue

export const ErrorDetail = z.object({ property: z.string(), error: z.string(), description: z.string() })
/** The body of every error. `message` repeats `description` for existing clients; `details` lists all problems, the first one is at the top level. */
export const ErrorBody = z.object({
  status: z.int(),
  error: z.string(),
  property: z.string().optional(),
  value: z.unknown().optional(),
  description: z.string(),
  message: z.string(),
  requestId: z.string().optional(),
  details: z.array(ErrorDetail).optional(),
})
export type ErrorDetail = z.output<typeof ErrorDetail>
export type ErrorBody = z.output<typeof ErrorBody>

export type CruxErrorFields = {
  property?: string
  value?: unknown
  description?: string
  details?: ErrorDetail[]
  /** For tooManyRequests: when to retry; sent as Retry-After. */
  retryAfterS?: number
  cause?: unknown
}

/** The only error that is thrown on purpose. Any other error is answered as an internalError that contains only a request id. */
export class CruxError extends Error {
  override readonly name = 'CruxError'
  readonly code: ErrorCode
  readonly status: number
  readonly property: string | undefined
  readonly value: unknown
  readonly details: ErrorDetail[] | undefined
  readonly retryAfterS: number | undefined

  constructor(code: ErrorCode, fields: CruxErrorFields = {}) {
    super(
      fields.description ?? errorCatalogue[code].description,
      fields.cause === undefined ? undefined : { cause: fields.cause },
    )
    this.code = code
    this.status = errorCatalogue[code].status
    this.property = fields.property
    this.value = fields.value
    this.details = fields.details
    this.retryAfterS = fields.retryAfterS
  }

  toBody(requestId?: string): ErrorBody {
    return {
      status: this.status,
      error: this.code,
      property: this.property,
      value: this.value,
      description: this.message,
      message: this.message,
      requestId,
      details: this.details,
    }
  }
}

/** Renders a zod path in the format of properties: `instances[0].config.ports[1].internal`. */
export const propertyPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${String(part)}` : String(part)),
    '',
  )

/** The maximum of `details` in one answer: a small body with many invalid rows must not cause a much larger answer. */
export const detailsMax = 1_000

/** Converts validation issues to one invalidArgument: the first one at the top level, up to `detailsMax` in `details`. `at` is prepended to every path. */
export const invalidArgument = (error: z.ZodError, at: readonly PropertyKey[] = []): CruxError => {
  const details = error.issues.slice(0, detailsMax).map((issue) => ({
    property: propertyPath([...at, ...issue.path]),
    error: issue.code === 'custom' && typeof issue.params?.rule === 'string' ? issue.params.rule : issue.code,
    description: issue.message,
  }))
  const first = details[0]
  return new CruxError(first?.error === 'keysAreUnique' ? 'keysAreUnique' : 'invalidArgument', {
    property: first?.property,
    description: first ? `${first.property || 'body'}: ${first.description}` : undefined,
    details,
  })
}
