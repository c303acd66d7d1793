import { z } from 'zod'

/** The API server's own description of a failure. */
const Status = z.object({
  message: z.string().default(''),
  reason: z.string().default(''),
  code: z.number().optional(),
  details: z
    .object({
      causes: z
        .array(
          z.object({ reason: z.string().default(''), message: z.string().default(''), field: z.string().default('') }),
        )
        .default([]),
    })
    .prefault({}),
})
export type Status = z.output<typeof Status>

const none: Status = { message: '', reason: '', details: { causes: [] } }

/** An answer of the API server other than a success. `errors.ts` translates it. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: number
  readonly status: Status

  constructor(code: number, status: Status) {
    super(`${code} ${status.reason} ${status.message}`.trim())
    this.code = code
    this.status = status
  }
}

/** @param answer the parsed body, or a text of a proxy on the way, which may be anything and is not repeated */
export function toApiError(code: number, answer: unknown): ApiError {
  const status = Status.safeParse(answer).data ?? none
  return new ApiError(status.code ?? code, status)
}

/** The connection does not work: refused, cut, or silent for too long. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError'
}

/** The kubeconfig cannot be used. Has no cause: errors of parsers and of credential plugins quote credentials. */
export class KubeconfigError extends Error {
  override name = 'KubeconfigError'
}
