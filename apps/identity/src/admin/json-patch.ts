import { isObject } from '../http/body.ts'
import { IdentityError } from '../http/errors.ts'

interface Operation {
  op: 'add' | 'replace' | 'remove'
  path: string[]
  value: unknown
}

/** The fields that a patch can update. Other fields are refused instead of being ignored silently. */
const patchedFields = ['traits', 'state', 'metadata_public', 'metadata_admin']
const forbiddenNames = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Applies a JSON Patch (RFC 6902: add, replace and remove) to a copy of `document`. Missing parents are created, also where the value is null.
 * Removing a missing value is refused.
 *
 * @throws IdentityError 400 that describes the problem with the patch
 */
export function applyPatch(document: Record<string, unknown>, patch: unknown): Record<string, unknown> {
  const result = structuredClone(document)
  for (const operation of readPatch(patch)) {
    const { op, path, value } = operation
    const last = path.at(-1) ?? ''
    const parent = getParent(result, operation)
    if (op !== 'remove') parent[last] = value
    else if (Object.hasOwn(parent, last)) delete parent[last]
    else throw missing(path)
  }
  return result
}

function readPatch(patch: unknown): Operation[] {
  if (!Array.isArray(patch)) throw refused('a patch must be a list of operations')
  return patch.map((entry: unknown) => {
    if (!isObject(entry) || typeof entry.path !== 'string' || !entry.path.startsWith('/'))
      throw refused('an operation needs a path that begins with a slash')
    const { op } = entry
    if (op !== 'add' && op !== 'replace' && op !== 'remove') throw refused(`unsupported operation: ${String(op)}`)
    const path = entry.path
      .slice(1)
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    if (!patchedFields.includes(path[0] ?? '') || path.some((part) => forbiddenNames.has(part)))
      throw refused(`patch includes denied path: ${entry.path}`)
    return { op, path, value: entry.value ?? null }
  })
}

/** The object that holds the last part of a path. Missing parents are created, or refused when a value is removed. */
function getParent(document: Record<string, unknown>, { op, path }: Operation): Record<string, unknown> {
  let node = document
  for (const part of path.slice(0, -1)) {
    const next = node[part]
    if (!isObject(next) && op === 'remove') throw missing(path)
    const child = isObject(next) ? next : {}
    node[part] = child
    node = child
  }
  return node
}

const missing = (path: string[]) => refused(`error in remove for path: '/${path.join('/')}': it does not exist`)

function refused(message: string): IdentityError {
  return new IdentityError(400, { message, reason: 'An error occurred when applying the JSON patch' })
}
