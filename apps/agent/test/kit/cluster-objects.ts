import type { ClusterObject } from '../../src/engines/kubernetes/cluster/cluster.ts'

/** A value inside of an object; undefined when any part of the path is missing. */
export function getPath(object: ClusterObject | undefined, ...path: readonly string[]): unknown {
  let value: unknown = object?.fields
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = Object.entries(value).find(([key]) => key === name)?.[1]
  }
  return value
}

export const toLabels = (object: ClusterObject | undefined): Readonly<Record<string, string>> => object?.labels ?? {}
