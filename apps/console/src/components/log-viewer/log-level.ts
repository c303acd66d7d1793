import type { LogLevel } from '@crux/contract'

/** Reads a level from where log libraries put it: the head of the line, or a `level` field of a JSON line. */
export function getLevel(text: string): LogLevel | undefined {
  const head = text.slice(0, 160)
  if (failing.test(head)) return 'error'
  if (warning.test(head)) return 'warn'
  return undefined
}

const failing =
  /\b(?:error|fatal|panic|critical|crit|emerg|alert|exception)\b(?!s?[-_/.]\w)|"level"\s*:\s*(?:"(?:error|fatal)"|[56]0\b)|\blevel=(?:error|fatal)\b|\bERR\b/i
const warning = /\b(?:warn|warning)\b|"level"\s*:\s*(?:"warn"|40\b)|\blevel=warn/i
