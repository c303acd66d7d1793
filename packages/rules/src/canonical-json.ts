/**
 * One text for values that mean the same to a container: row ids, the order of an object's keys, and the difference between null
 * and absent do not show in it. Lists keep their order. Hashes of stored configurations are made of it, so its form never changes.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const entries = Object.entries(value)
    .filter(([key, entry]) => key !== 'id' && entry !== undefined && entry !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonicalJson(entry)}`).join(',')}}`
}
