import {
  errorCode,
  getField,
  type Outbound,
  OutboundError,
  type OutboundResponse,
  parseLongIntegers,
} from '@crux/service-kit'
import { secondsToWait } from '../../registries/index.ts'
import { PipelineServiceError } from './pipeline-api.ts'

const timeoutMs = 10_000
const bytesMax = 4 * 1_024 * 1_024
/** A service is not believed when it asks for a longer pause. */
const pauseSMax = 6 * 3_600

export type ServiceResponse = {
  status: number
  headers: OutboundResponse['headers']
  /** The parsed body; undefined when it is no JSON. */
  body: unknown
  text: string
}
type Method = 'GET' | 'POST' | 'DELETE'
export type ServiceRequest = {
  method?: Method
  body?: object
  headers?: Record<string, string>
}

/**
 * Requests to the API of a service. Answers that mean the same at every service become errors here.
 *
 * @param service the name for messages
 */
export function createServiceClient(options: {
  outbound: Outbound
  url: string
  service: string
  headers: Record<string, string>
}) {
  const { outbound, url, service } = options

  return {
    async request(path: string, { method = 'GET', body, headers }: ServiceRequest = {}): Promise<ServiceResponse> {
      const sent = await send(path, method, body, headers)
      const { status } = sent
      if (status === 429 || (status === 403 && isLimited(sent))) throw limited(service, sent)
      if (status >= 500)
        throw new PipelineServiceError('unanswered', `${service} has a problem of its own (status ${status}).`)
      // A redirect leads to a page for signing in, or to the new place of something that was renamed.
      if (status === 401 || (status >= 300 && status < 400 && /sign.?in|login/i.test(String(sent.headers.location))))
        throw refusedToken(service)
      const text = sent.body.toString('utf8')
      return { status, headers: sent.headers, text, body: parseLongIntegers(text) }
    },
  }

  async function send(path: string, method: Method, body: object | undefined, headers: ServiceRequest['headers']) {
    try {
      // A redirect would be followed without the credential, and its answer would be misread.
      return await outbound.request(`${url}${path}`, {
        method,
        headers: { ...options.headers, ...(body && { 'content-type': 'application/json' }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
        timeoutMs,
        maxBytes: bytesMax,
        redirects: 0,
      })
    } catch (error) {
      throw toServiceError(service, error)
    }
  }
}
export type ServiceClient = ReturnType<typeof createServiceClient>

export const refusedToken = (service: string, description = `${service} refuses this token.`) =>
  new PipelineServiceError('token', description)

function limited(service: string, { headers }: OutboundResponse): PipelineServiceError {
  const seconds = Math.min(secondsToWait(headers) ?? 60, pauseSMax)
  return new PipelineServiceError('limited', `${service} accepts no more requests for ${seconds} seconds.`, {
    retryAfterS: seconds,
  })
}

/** GitHub also refuses with 403, and tells it from missing rights by these headers. */
const isLimited = ({ headers }: OutboundResponse): boolean =>
  headers['retry-after'] !== undefined || String(headers['x-ratelimit-remaining'] ?? '') === '0'

/** The codes of connections that were never made. */
const unsent = /^(ECONNREFUSED|EHOST|ENET|EADDR|UND_ERR_CONNECT)/

function toServiceError(service: string, error: unknown): unknown {
  if (!(error instanceof OutboundError)) return error
  const { code } = error
  const isUnsent =
    ['refused', 'unresolved', 'tls', 'invalidUrl'].includes(code) || (code === 'unreachable' && wasUnsent(error.cause))
  return new PipelineServiceError(
    isUnsent ? 'unreachable' : 'unanswered',
    `${service} did not answer: ${error.message}.`,
    { cause: error },
  )
}

/** When every address of a name fails, the error holds one for each. */
function wasUnsent(cause: unknown): boolean {
  const errors = getField(cause, 'errors')
  if (Array.isArray(errors) && errors.length > 0) return errors.every(wasUnsent)
  const inner = getField(cause, 'cause')
  return unsent.test(errorCode(cause)) || (inner !== undefined && wasUnsent(inner))
}

/** Whether a part of an address may be sent: a service must not be asked for another path than the one that is meant. */
export const isPathPart = (text: string): boolean => text !== '' && text !== '.' && text !== '..'

export const toRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}

export const toRecords = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.map(toRecord) : []

export const toText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Only pages for browsers: a link that a user may press comes from a service. */
export function toPageUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 2_048 || !URL.canParse(value)) return undefined
  const url = new URL(value)
  return /^https?:$/.test(url.protocol) && !url.username && !url.password ? url.href : undefined
}

/** Only dates that PostgreSQL can store: those of services are from our time. */
export function toDate(value: unknown): Date | undefined {
  const date = new Date(typeof value === 'string' ? value : Number.NaN)
  return date.getTime() > 0 && date.getUTCFullYear() <= 9_999 ? date : undefined
}
