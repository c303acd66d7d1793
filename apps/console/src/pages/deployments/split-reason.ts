/** A sentence for users, and the original message of a registry, engine or socket. */
export type SplitReason = { text: string; details: string | null }

/** Texts for socket error codes. */
const codes: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name not found',
  ETIMEDOUT: 'timed out',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
}

/** The engine's message after a sentence. It may contain parentheses, so it ends with the sentence. */
const ofEngine = /\s*\(Docker: (.*?)\)(?=\.?$|[.;] )/gs
/** At the end of a sentence; others may follow, such as what keeps answering. */
const inParentheses = /\s*\(([^()]+)\)(\.?)(?=\s|$)/

/**
 * Separates the original message of another program from a reason: it helps to find the cause, but makes the sentence hard to read. Socket
 * error codes are replaced by text and stay in the sentence.
 */
export function splitReason(reason: string): SplitReason {
  const quoted = [...reason.matchAll(ofEngine)].map(([, words]) => words)
  if (quoted.length > 0) {
    const text = reason.replace(ofEngine, '')
    return { text: /[.!?]$/.test(text) ? text : `${text}.`, details: quoted.join('\n') }
  }
  const [found, words] = inParentheses.exec(reason) ?? []
  if (!found || !words) return { text: reason, details: null }
  const known = codes[words]
  if (known) return { text: reason.replace(words, known), details: null }
  return isRaw(words) ? { text: reason.replace(found, '.'), details: words } : { text: reason, details: null }
}

/** Whether a text in parentheses is another program's, such as "manifest unknown: manifest unknown", and not part of our sentence. */
const isRaw = (text: string): boolean =>
  /^E[A-Z_]{3,}$/.test(text) || /\w: \w/.test(text) || /^unauthorized|denied/i.test(text)
