/** What a registry, an engine or a socket said, apart from the sentence that a person reads. */
export type SplitReason = { text: string; details: string | null }

/** Codes of sockets that everybody may know in words. */
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
 * Splits the raw words of another program off the end of a reason: they help whoever looks for the cause, and hide the sentence from
 * everybody else. Codes that are known in words stay in the sentence.
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

/** "manifest unknown: manifest unknown", "E...": not what a sentence of ours has in parentheses. */
const isRaw = (text: string): boolean =>
  /^E[A-Z_]{3,}$/.test(text) || /\w: \w/.test(text) || /^unauthorized|denied/i.test(text)
