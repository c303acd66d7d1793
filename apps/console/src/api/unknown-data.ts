/** A part of data whose shape nobody promises; undefined where the path leads nowhere. */
export const valueAt = (data: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
    data,
  )

/** The same for a text; undefined where it is empty or something else. */
export function textAt(data: unknown, ...path: string[]): string | undefined {
  const value = valueAt(data, ...path)
  return typeof value === 'string' && value !== '' ? value : undefined
}
