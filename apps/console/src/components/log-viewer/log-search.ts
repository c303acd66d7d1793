import type { LogBuffer } from './log-buffer.ts'
import { plainText } from './terminal-text.ts'

/** How many lines are searched at once: a few milliseconds of work, so that typing stays smooth. */
const chunk = 20_000

export type LogSearch = {
  /** Restarts if the search text changed, else continues with new lines; true while there is more to search. */
  advance: (query: string) => boolean
  /** Numbers of matching lines that are still kept, ascending. */
  readonly matches: readonly number[]
}

/** Finds lines that hold the words, case-insensitively, and keeps the list while lines come and go. */
export function createLogSearch(buffer: LogBuffer): LogSearch {
  let needle = ''
  let seen = 0
  let matches: number[] = []

  return {
    advance(query) {
      const wanted = query.toLowerCase()
      if (wanted !== needle || buffer.first + buffer.size - 1 < seen) {
        needle = wanted
        seen = buffer.first - 1
        matches = []
      }
      if (needle === '') return false
      if (seen < buffer.first - 1) seen = buffer.first - 1
      const gone = matches.findIndex((number) => number >= buffer.first)
      if (gone !== 0 && matches.length > 0) matches = gone < 0 ? [] : matches.slice(gone)
      const from = seen - buffer.first + 1
      const to = Math.min(buffer.size, from + chunk)
      const found: number[] = []
      for (let index = from; index < to; index += 1) {
        const line = buffer.at(index)
        if (line && !line.skipped && plainText(line.text).toLowerCase().includes(needle)) found.push(line.number)
      }
      if (found.length > 0) matches = matches.concat(found)
      seen = buffer.first + to - 1
      return to < buffer.size
    },
    get matches() {
      return matches
    },
  }
}

/** Splits a text at the matches of the words, for marking them: even pieces are plain, odd ones match. */
export function splitAtMatches(text: string, query: string): string[] {
  const needle = query.toLowerCase()
  if (needle === '') return [text]
  const lower = text.toLowerCase()
  // Lower case may change the length of rare letters; then the places would not fit.
  if (lower.length !== text.length) return [text]
  const parts: string[] = []
  let from = 0
  for (let at = lower.indexOf(needle); at >= 0; at = lower.indexOf(needle, from)) {
    parts.push(text.slice(from, at), text.slice(at, at + needle.length))
    from = at + needle.length
  }
  parts.push(text.slice(from))
  return parts
}
