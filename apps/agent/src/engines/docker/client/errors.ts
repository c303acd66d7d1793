import { EngineError, type EngineErrorKind, undefinedIfMissing } from '../../../errors.ts'
import { NoAnswerError } from './client.ts'
import { explainMessage, explainRegistryMessage } from './engine-messages.ts'

/**
 * The one place that knows how Docker and its HTTP client report errors. The engine's own message follows the sentence in parentheses,
 * because users need it to search for the cause.
 *
 * @param doing what the engine was asked to do: "start the container"
 */
export function translate(error: unknown, doing: string): EngineError {
  if (error instanceof EngineError) return error
  const { statusCode, code } = toDialError(error)
  const text = getText(error)
  if (statusCode === undefined) {
    if (isUnavailable(code, text))
      return new EngineError('unavailable', `The Docker engine does not answer (${code ?? text})`, { cause: error })
    if (code === 'EACCES') {
      const denied = 'The agent may not use the Docker engine: run it as root, or as a member of the group docker'
      return new EngineError('refused', quoting(denied, text), { cause: error })
    }
  }
  const kind = statusCode === undefined ? 'other' : toKind(statusCode, text)
  const sentence = explainMessage(text) ?? `Docker could not ${doing}`
  return new EngineError(kind, quoting(sentence, text), { cause: error })
}

const quoting = (sentence: string, text: string) => (text === '' ? sentence : `${sentence} (Docker: ${text})`)

export async function translating<T>(doing: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw translate(error, doing)
  }
}

/** A registry's refusal arrives through the engine as 500, 404 or 403 with the registry's message. */
export function translateRegistry(error: unknown, image: string): EngineError {
  const text = getText(error)
  const toError = (kind: EngineErrorKind, sentence: string) =>
    new EngineError(kind, quoting(explainRegistryMessage(text, image) ?? sentence, text), { cause: error })
  const noAnswer = `The registry of ${image} does not answer: check that it runs, and that the node reaches it`
  // The engine itself waits for the registry without a limit.
  if (error instanceof NoAnswerError) return toError('registry-unavailable', noAnswer)
  const general = translate(error, `pull ${image}`)
  if (general.kind === 'unavailable') return general
  const { statusCode } = toDialError(error)
  if (/toomanyrequests|too many requests|rate limit/i.test(text))
    return toError('refused', `The registry limits how often ${image} may be pulled: wait, or set credentials`)
  if (
    /connection refused|no such host|i\/o timeout|timeout exceeded|network is unreachable|no route to host|server misbehaving|EOF|connection reset|TLS handshake|x509|HTTP response to HTTPS|50[0-9] |Client\.Timeout/i.test(
      text,
    )
  )
    return toError('registry-unavailable', noAnswer)
  if (/unauthorized|denied|authentication required|no basic auth|401|403/i.test(text))
    return toError('unauthorized', `The registry refuses access to ${image}: check the registry's credentials`)
  if (statusCode === 404 || /manifest unknown|not found|name unknown|repository does not exist/i.test(text))
    return toError('not-found', `The registry has no image ${image}: choose another tag, or push it first`)
  return toError('other', explainMessage(text) ?? `The image ${image} cannot be pulled`)
}

function toKind(statusCode: number, text: string): EngineErrorKind {
  if (/port is already allocated|address already in use|bind for .* failed/i.test(text)) return 'port-taken'
  if (statusCode === 404) return 'not-found'
  if (statusCode === 409) return 'conflict'
  if (statusCode === 400 || statusCode === 403) return 'refused'
  return 'other'
}

function isUnavailable(code: string | undefined, text: string): boolean {
  return (
    (code !== undefined &&
      ['ECONNREFUSED', 'ENOENT', 'ECONNRESET', 'EPIPE', 'EAI_AGAIN', 'ETIMEDOUT', 'ENOTFOUND'].includes(code)) ||
    /socket hang up|aborted/i.test(text)
  )
}

/** What docker-modem adds to its errors. */
interface DialError {
  statusCode?: number
  code?: string
  json?: { message?: unknown }
}

export function toDialError(error: unknown): DialError {
  return typeof error === 'object' && error !== null ? error : {}
}

function getText(error: unknown): string {
  const { json } = toDialError(error)
  if (json && typeof json.message === 'string') return json.message.trim()
  return (error instanceof Error ? error.message : String(error)).trim()
}

/** Like `translating`, but returns undefined for an object that does not exist. */
export const translatingIfThere = <T>(doing: string, run: () => Promise<T>): Promise<T | undefined> =>
  translating(doing, run).catch(undefinedIfMissing)
