/** The fields of a submit; dotted names are converted to nested objects. */
export type Fields = Record<string, unknown>
export type Body = { ok: true; fields: Fields } | { ok: false; reason: string }

const forbiddenNames = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Reads a submitted form, as JSON or urlencoded. A body that cannot be parsed is reported in the flow and not as an HTTP error, so the reason is
 * returned instead of thrown.
 */
export function readBody(raw: unknown, contentType: string | undefined): Body {
  const text = typeof raw === 'string' ? raw : ''
  if (text === '') return { ok: false, reason: 'The request has no body.' }
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase()
  if (type === 'application/json') return readJson(text)
  if (type === 'application/x-www-form-urlencoded') return readForm(text)
  return { ok: false, reason: 'The body must be application/json or application/x-www-form-urlencoded.' }
}

function readForm(text: string): Body {
  const entries = [...new URLSearchParams(text).entries()]
  if (!entries.flat().every(isStorable))
    return { ok: false, reason: 'The body holds characters that cannot be stored.' }
  return { ok: true, fields: nest(entries) }
}

function readJson(text: string): Body {
  let value: unknown
  try {
    value = parseStorableJson(text)
  } catch (error) {
    return { ok: false, reason: error instanceof UnstorableError ? error.message : 'The body is not valid JSON.' }
  }
  if (!isObject(value)) return { ok: false, reason: 'The body must be a JSON object.' }
  return { ok: true, fields: nest(Object.entries(value)) }
}

/** JSON that the database cannot store or that is nested too deeply. */
export class UnstorableError extends Error {
  override name = 'UnstorableError'
}

const depthMax = 32

/**
 * Parses untrusted JSON. PostgreSQL cannot store null characters or lone surrogates, and deep nesting would overflow the stack of recursive
 * functions.
 *
 * @throws SyntaxError, or UnstorableError with the reason
 */
export function parseStorableJson(text: string): unknown {
  if (measureDepth(text) > depthMax) throw new UnstorableError(`The body is nested deeper than ${depthMax} levels.`)
  return JSON.parse(text, (name, value: unknown) => {
    if (!isStorable(name) || (typeof value === 'string' && !isStorable(value)))
      throw new UnstorableError('The body holds characters that cannot be stored.')
    return value
  })
}

export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** The maximum nesting depth of brackets outside of strings, in one pass. */
function measureDepth(text: string): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (inString && character === '\\') index++
    else if (character === '"') inString = !inString
    else if (inString) continue
    else if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth)
    else if (character === ']' || character === '}') depth--
  }
  return deepest
}

/** Converts `traits.name.first` to `{traits: {name: {first}}}`. Names that would reach the prototype of an object are removed. */
function nest(entries: [string, unknown][]): Fields {
  const fields: Fields = {}
  for (const [name, value] of entries) {
    const path = name.split('.')
    if (path.length > 8 || path.some((part) => forbiddenNames.has(part))) continue
    let target = fields
    for (const part of path.slice(0, -1)) {
      const next = target[part]
      const child = isObject(next) ? { ...next } : {}
      target[part] = child
      target = child
    }
    const last = path.at(-1) ?? ''
    const existing = target[last]
    const clean = withoutForbidden(value)
    target[last] = isObject(existing) && isObject(clean) ? { ...existing, ...clean } : clean
  }
  return fields
}

function withoutForbidden(value: unknown): unknown {
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !forbiddenNames.has(name))
      .map(([name, inner]) => [name, withoutForbidden(inner)]),
  )
}

/** A field as text: numbers and booleans are converted, all other types result in an empty text. */
export function textField(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The payload that a client sends along with a submit for its own use. */
export function transientPayload(fields: Fields): Record<string, unknown> {
  return isObject(fields.transient_payload) ? fields.transient_payload : {}
}
