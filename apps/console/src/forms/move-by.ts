/** A list with one of its members a step further up or down; at the ends it stays as it is. */
export function moveBy(list: readonly string[], member: string, step: -1 | 1): string[] {
  const from = list.indexOf(member)
  const to = from + step
  if (from < 0 || to < 0 || to >= list.length) return [...list]
  const rest = list.filter((other) => other !== member)
  return [...rest.slice(0, to), member, ...rest.slice(to)]
}
