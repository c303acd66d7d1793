/** The fields of a submit; dotted names have become nested objects. */
export type Fields = Record<string, unknown>
export type Body = { ok: true; fields: Fields } | { ok: false; reason: string }

const forbiddenNames = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Reads a submitted form, as JSON or urlencoded. What cannot be read is no transport error: the flow says it, so the
 * reason is returned and not thrown.
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

/** JSON that the database cannot keep or that nobody writes in earnest. */
export class UnstorableError extends Error {
  override name = 'UnstorableError'
}

const depthMax = 32

/**
 * Parses JSON of strangers: PostgreSQL keeps no null characters and no halves of surrogate pairs, and what is nested
 * without end would end the stack of whoever walks it.
 *
 * @throws SyntaxError, or UnstorableError with the reason
 */
export function parseStorableJson(text: string): unknown {
  if (depthOf(text) > depthMax) throw new UnstorableError(`The body is nested deeper than ${depthMax} levels.`)
  return JSON.parse(text, (name, value: unknown) => {
    if (!isStorable(name) || (typeof value === 'string' && !isStorable(value)))
      throw new UnstorableError('The body holds characters that cannot be stored.')
    return value
  })
}

export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** The deepest nesting of brackets outside of strings, in one pass. */
function depthOf(text: string): number {
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

/** `traits.name.first` becomes `{traits: {name: {first}}}`; names that would reach an object's prototype are dropped. */
function nest(entries: [string, unknown][]): Fields {
  const fields: Fields = {}
  for (const [name, value] of entries) {
    const path = name.split('.')
    if (path.length > 8 || path.some((part) => forbiddenNames.has(part))) continue
    let place = fields
    for (const part of path.slice(0, -1)) {
      const next = place[part]
      const child = isObject(next) ? { ...next } : {}
      place[part] = child
      place = child
    }
    const last = path.at(-1) ?? ''
    const existing = place[last]
    const clean = withoutForbidden(value)
    place[last] = isObject(existing) && isObject(clean) ? { ...existing, ...clean } : clean
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

/** A field as text: a number or boolean where text belongs is taken for its text, anything else for nothing. */
export function textField(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
