import { ApiError } from '@crux/client'
import i18n from 'i18next'

/**
 * The text for an error: the one of its code if the locale has it, else the server's description. 500 and above, and
 * responses that are not from the API, get one general sentence; their request id identifies the log entry.
 */
export function describeError(error: unknown): { text: string; requestId?: string } {
  if (!(error instanceof ApiError)) return { text: i18n.t('errors.oops') }
  if (error.status === 0)
    return { text: i18n.t(`errors.${unreached.find((code) => code === error.error) ?? 'networkError'}`) }
  if (error.status >= 500) return { text: i18n.t('errors.oops'), requestId: error.requestId }
  const own = `errors.${error.error}`
  // The catalogue's general codes carry a description that names the property; the special ones have texts of their own.
  const text =
    !general.has(error.error) && i18n.exists(own)
      ? i18n.t(own as 'errors.oops')
      : error.description || i18n.t('errors.oops')
  return { text, requestId: error.requestId }
}

const unreached = ['networkError', 'noAnswer', 'unknownOutcome'] as const

const general = new Set([
  'invalidArgument',
  'notFound',
  'alreadyExists',
  'preconditionFailed',
  'unauthorized',
  'forbidden',
  // The server's descriptions have the time that is left, and what a credential lacks.
  'registryRateLimit',
  'registryUnauthorized',
  'UNKNOWN',
])

/** Whether trying the same request again may help. */
export const mayRetry = (error: unknown): boolean =>
  error instanceof ApiError && (error.error === 'networkError' || error.status === 502 || error.status === 503)

export const isStatus = (error: unknown, status: number): error is ApiError =>
  error instanceof ApiError && error.status === status
