/** The names of an object's own fields, with their types: for tables that have no others. */
export function getKeys<T extends object>(table: T): Extract<keyof T, string>[] {
  const keys: Extract<keyof T, string>[] = []
  for (const key in table) keys.push(key)
  return keys
}
