/** A sentence for a person, and the original words of a registry, engine or socket. */
export type SplitReason = { text: string; details: string | null }

/** Socket error codes in words. */
const codes: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name not found',
  ETIMEDOUT: 'timed out',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
}

/** Sentences that end with the words of another program after a colon. */
const quoting = /^(The registry of \S+ does not answer|The image \S+ cannot be fetched): (.+)$/s

/**
 * Splits the original words of another program off the end of a reason: they help to find the cause, but make the sentence hard to
 * read. Socket error codes are replaced by words and stay in the sentence.
 */
export function splitReason(reason: string): SplitReason {
  const [, sentence, quoted] = quoting.exec(reason) ?? []
  if (sentence && quoted) return { text: `${sentence}.`, details: quoted.replace(/\.$/, '') }
  const [, head, tail] = /^(.+?)\s*\(([^()]+)\)\.?$/s.exec(reason) ?? []
  if (!head || !tail) return { text: reason, details: null }
  const words = codes[tail]
  if (words) return { text: `${head} (${words}).`, details: null }
  return isRaw(tail)
    ? { text: /[.?!]$/.test(head) ? head : `${head}.`, details: tail }
    : { text: reason, details: null }
}

/** Whether a text in parentheses is another program's, such as "manifest unknown: manifest unknown", and not part of our sentence. */
const isRaw = (text: string): boolean =>
  /^E[A-Z_]{3,}$/.test(text) || /\w: \w/.test(text) || /^unauthorized|denied/i.test(text)
