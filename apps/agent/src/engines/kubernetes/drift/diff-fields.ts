import { isDeepStrictEqual } from 'node:util'

/** Undefined: the object does not have the field. */
export interface ChangedField {
  /** "spec.template.spec.containers[web].image". */
  path: string
  wanted: unknown
  found: unknown
}

/** Maps that the API treats as one value, such as the selector of a Service: a program that changes a part of it owns all of it. */
const wholePaths: ReadonlySet<string> = new Set(['spec.selector'])

type Fields = Readonly<Record<string, unknown>>

/** By which fields the API tells the items of a list apart; a list of other items is one value. */
const itemKeys = [['name'], ['containerPort', 'protocol'], ['port', 'protocol'], ['mountPath']] as const

/**
 * What a forced apply would change, as far as another program has changed it before.
 *
 * A field that the agent still owns has the value that the agent gave it: by a stop or restart, by a release that kept the workload, or as an
 * earlier version of the agent. The API takes such a field away from the agent as soon as another program changes its value.
 *
 * @param found the object as it is
 * @param applied the object as it would be
 * @param owned what the agent has applied of it
 */
export function diffFields(found: unknown, applied: unknown, owned: unknown, path = ''): ChangedField[] {
  if (isDeepStrictEqual(found, applied)) return []
  if (isFields(found) && isFields(applied) && !wholePaths.has(path)) {
    const names = new Set([...Object.keys(found), ...Object.keys(applied)])
    const mine = isFields(owned) ? owned : {}
    return [...names].flatMap((name) => diffFields(found[name], applied[name], mine[name], toPath(path, name)))
  }
  const keys = Array.isArray(found) && Array.isArray(applied) ? findKeys([...found, ...applied]) : undefined
  if (keys && Array.isArray(found) && Array.isArray(applied)) {
    const [left, right, mine] = [found, applied, owned].map((list) => toMap(list, keys))
    const names = new Set([...(left?.keys() ?? []), ...(right?.keys() ?? [])])
    return [...names].flatMap((name) =>
      diffFields(left?.get(name), right?.get(name), mine?.get(name), `${path}[${name}]`),
    )
  }
  const isOwn = owned !== undefined && (applied === undefined || isDeepStrictEqual(owned, found))
  return isOwn ? [] : [{ path, wanted: applied, found }]
}

function findKeys(items: readonly unknown[]): readonly string[] | undefined {
  if (items.length === 0 || !items.every(isFields)) return undefined
  return itemKeys.find((keys) => items.every((item) => keys.every((key) => item[key] !== undefined)))
}

function toMap(list: unknown, keys: readonly string[]): Map<string, unknown> {
  const items: readonly unknown[] = Array.isArray(list) ? list : []
  return new Map(
    items.flatMap((item) => (isFields(item) ? [[keys.map((key) => String(item[key])).join('/'), item] as const] : [])),
  )
}

/** Keys of labels and annotations have dots of their own. */
const toPath = (path: string, name: string): string =>
  /^\w+$/.test(name) ? (path === '' ? name : `${path}.${name}`) : `${path}[${name}]`

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
