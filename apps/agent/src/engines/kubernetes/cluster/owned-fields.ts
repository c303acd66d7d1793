import { z } from 'zod'
import type { Manifest, ObjectKind } from './cluster.ts'

const Entry = z.object({
  manager: z.string().optional(),
  operation: z.string().optional(),
  subresource: z.string().optional(),
  fieldsV1: z.record(z.string(), z.unknown()).optional(),
})
const Managed = z.object({
  apiVersion: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    managedFields: z.array(Entry).optional(),
  }),
})

type Fields = Readonly<Record<string, unknown>>

/**
 * The manifest that a manager last applied to an object, read back from the object itself: server-side apply records which fields belong to
 * which manager. Applied again, it brings exactly those fields back, and leaves the fields of other managers alone.
 *
 * @param object JSON of the API, with its managed fields
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
 * @returns undefined when the manager has applied nothing
 */
export function toOwnedManifest(kind: ObjectKind, object: unknown, manager: string): Manifest | undefined {
  const fields = findOwnedFields(object, manager)
  return fields && toManifest(kind, object, fields)
}

/** The fields that a manager has applied to an object, as the object records them. */
export const findOwnedFields = (object: unknown, manager: string): Fields | undefined =>
  Managed.safeParse(object).data?.metadata.managedFields?.find(
    (one) => one.manager === manager && one.operation === 'Apply' && !one.subresource,
  )?.fieldsV1

/** The given fields of an object as they are, as a manifest. Fields that the object does not have are left out. */
export function toManifest(kind: ObjectKind, object: unknown, fields: Fields): Manifest | undefined {
  const parsed = Managed.safeParse(object)
  if (!parsed.success) return undefined
  const { apiVersion, metadata } = parsed.data
  const owned = pick(object, fields)
  if (!isRecord(owned)) return undefined
  const meta = isRecord(owned.metadata) ? owned.metadata : {}
  return {
    ...owned,
    apiVersion,
    kind,
    metadata: { ...meta, name: metadata.name, ...(metadata.namespace && { namespace: metadata.namespace }) },
  }
}

/** A key is `f:name` of a field, `k:{...}` of a list item by its keys, `v:...` of a set's member, or `.` for the value itself. */
function pick(value: unknown, fields: Readonly<Record<string, unknown>>): unknown {
  const keys = Object.keys(fields).filter((key) => key !== '.')
  if (keys.length === 0) return value
  if (Array.isArray(value)) return value.flatMap((item) => pickItem(item, fields, keys))
  if (!isRecord(value)) return value
  const picked: Record<string, unknown> = {}
  for (const key of keys) {
    const name = key.slice(2)
    const inner = fields[key]
    if (key.startsWith('f:') && Object.hasOwn(value, name))
      picked[name] = pick(value[name], isRecord(inner) ? inner : {})
  }
  return picked
}

function pickItem(item: unknown, fields: Readonly<Record<string, unknown>>, keys: readonly string[]): unknown[] {
  for (const key of keys) {
    const wanted = parse(key.slice(2))
    const inner = fields[key]
    if (key.startsWith('v:') && JSON.stringify(item) === JSON.stringify(wanted)) return [item]
    if (!key.startsWith('k:') || !isRecord(item) || !isRecord(wanted)) continue
    if (Object.entries(wanted).every(([name, value]) => item[name] === value))
      return [{ ...wanted, ...asRecord(pick(item, isRecord(inner) ? inner : {})) }]
  }
  return []
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Sets of fields are objects whose keys name fields, at any depth. */
export function mergeFields(left: unknown, right: unknown): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...asRecord(left) }
  for (const [key, value] of Object.entries(asRecord(right)))
    merged[key] = key in merged ? mergeFields(merged[key], value) : value
  return merged
}

const asRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {})

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
