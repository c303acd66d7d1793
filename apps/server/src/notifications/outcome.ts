/** How an attempt ended. */
export type Outcome =
  | { kind: 'delivered'; statusCode: number | null }
  | {
      /**
       * `retry`: until a day has passed; `doubtful`: a few times, because the receiver will most likely say the same;
       * `final`: never; `gone`: never, and the notification is switched off.
       */
      kind: 'retry' | 'doubtful' | 'final' | 'gone'
      statusCode: number | null
      /** The kind of the error, never what the receiver wrote. */
      error: string
      /** What the receiver asks for. */
      retryAfterMs?: number | undefined
    }

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
/** The pauses after the first attempts; after them, an hour each. */
const pausesMs = [
  10 * secondMs,
  30 * secondMs,
  minuteMs,
  2 * minuteMs,
  5 * minuteMs,
  10 * minuteMs,
  30 * minuteMs,
] as const
export const deliveryMs = 24 * hourMs
const doubtfulAttemptsMax = 3

/**
 * What an answer means: https://www.rfc-editor.org/rfc/rfc9110#name-status-codes
 *
 * @param retryAfter the header
 */
export function judgeStatus(statusCode: number, retryAfter: string | undefined, now = new Date()): Outcome {
  if (statusCode >= 200 && statusCode < 300) return { kind: 'delivered', statusCode }
  if (statusCode === 410) return { kind: 'gone', statusCode, error: 'answer' }
  const retryAfterMs = parseRetryAfter(retryAfter, now)
  if (statusCode >= 500 || [408, 425, 429].includes(statusCode))
    return { kind: 'retry', statusCode, error: 'answer', retryAfterMs }
  // A redirect is not followed: the message would be lost as a GET, or go to an address that nobody entered.
  return { kind: 'doubtful', statusCode, error: statusCode >= 300 && statusCode < 400 ? 'redirect' : 'answer' }
}

/** Seconds or a date: https://www.rfc-editor.org/rfc/rfc9110#name-retry-after */
export function parseRetryAfter(header: string | undefined, now = new Date()): number | undefined {
  const text = header?.trim() ?? ''
  const ms = /^\d{1,9}(\.\d+)?$/.test(text) ? Number(text) * secondMs : Date.parse(text) - now.getTime()
  return Number.isFinite(ms) && text !== '' ? Math.min(Math.max(ms, secondMs), deliveryMs) : undefined
}

/**
 * When the next attempt is due: after a pause that grows, or when the receiver wants it, and for the last time a day
 * after the delivery was created.
 *
 * @param attempts with the one that has failed
 * @returns undefined when there is none
 */
export function getNextAttempt(
  outcome: Exclude<Outcome, { kind: 'delivered' }>,
  { attempts, createdAt }: { attempts: number; createdAt: Date },
  now = new Date(),
  random = Math.random,
): Date | undefined {
  if (outcome.kind !== 'retry' && outcome.kind !== 'doubtful') return undefined
  if (outcome.kind === 'doubtful' && attempts >= doubtfulAttemptsMax) return undefined
  const end = createdAt.getTime() + deliveryMs
  if (now.getTime() >= end) return undefined
  // Deliveries that failed together are not repeated together.
  const pause = (pausesMs[attempts - 1] ?? hourMs) * (0.9 + random() * 0.2)
  return new Date(Math.min(now.getTime() + Math.max(outcome.retryAfterMs ?? 0, pause), end))
}
