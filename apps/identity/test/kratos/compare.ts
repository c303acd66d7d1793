export interface Deviation {
  /** The path of names in the answer: `body.ui.nodes.password/method.meta.label.id`. */
  path: string
  recorded: unknown
  seen: unknown
}

/** The differences of two values at any depth. A value that only one of them has differs from undefined. */
export function deviations(recorded: unknown, seen: unknown, path = ''): Deviation[] {
  if (isObject(recorded) && isObject(seen))
    return [...new Set([...Object.keys(recorded), ...Object.keys(seen)])].flatMap((name) =>
      deviations(recorded[name], seen[name], below(path, name)),
    )
  if (Array.isArray(recorded) && Array.isArray(seen) && recorded.length === seen.length)
    return recorded.flatMap((entry, index) => deviations(entry, seen[index], below(path, String(index))))
  return JSON.stringify(recorded) === JSON.stringify(seen) ? [] : [{ path, recorded, seen }]
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
