/**
 * Renders values that are equivalent for a container as the same text: row ids, the key order of objects, and the difference between null and absent
 * are ignored. Lists keep their order. Hashes of stored configurations are computed from it, so its format must not change.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const entries = Object.entries(value)
    .filter(([key, entry]) => key !== 'id' && entry !== undefined && entry !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonicalJson(entry)}`).join(',')}}`
}
