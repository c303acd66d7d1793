import type { ComposeValue } from '../model.ts'

export type ComposeRecord = { [key: string]: ComposeValue }

export const isComposeRecord = (value: ComposeValue | undefined): value is ComposeRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The members of a mapping; of anything else, none. */
export const toComposeRecord = (value: ComposeValue | undefined): ComposeRecord => (isComposeRecord(value) ? value : {})

export const toList = (value: ComposeValue | undefined): readonly ComposeValue[] => (Array.isArray(value) ? value : [])

/** The own member of a mapping, so that a service named `constructor` finds nothing of JavaScript. */
export const getMember = (record: ComposeRecord, key: string): ComposeValue | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined

/** A scalar as text. Numbers and booleans are texts that were written without quotes. */
export const toText = (value: ComposeValue | undefined): string | undefined =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined

/** One text, or a list of them. */
export const toTexts = (value: ComposeValue | undefined): string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((item) => toText(item) ?? [])

export function toNumber(value: ComposeValue | undefined): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.trim() === '') return undefined
  const number = Number(value)
  return Number.isFinite(number) ? number : undefined
}

/** Interpolated booleans are texts. */
export function toBoolean(value: ComposeValue | undefined): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (typeof value !== 'string') return undefined
  if (/^(true|yes|on|y|1|t)$/i.test(value)) return true
  return /^(false|no|off|n|0|f)$/i.test(value) ? false : undefined
}

export type Pair = { key: string; value: string | null; at: string | number }

/** `{A: 1}` or `["A=1"]`; null is a name without a value. A name that is listed twice has its last value, at its first position. */
export function toPairs(value: ComposeValue | undefined): Pair[] {
  const pairs = new Map<string, Pair>()
  if (Array.isArray(value))
    for (const [at, item] of value.entries()) {
      const text = toText(item) ?? ''
      const equals = text.indexOf('=')
      const key = equals < 0 ? text : text.slice(0, equals)
      pairs.set(key, { key, value: equals < 0 ? null : text.slice(equals + 1), at })
    }
  else
    for (const [key, item] of Object.entries(toComposeRecord(value)))
      pairs.set(key, { key, value: toText(item) ?? null, at: key })
  return [...pairs.values()]
}
