/** "shop" becomes "shop-copy", and that "shop-copy-2": a copy never begins where its original is. */
export function copiedPrefix(prefix: string): string {
  const [, base = prefix, number] = /^(.+)-copy(?:-(\d+))?$/.exec(prefix) ?? []
  return base === prefix ? `${prefix}-copy` : `${base}-copy-${Number(number ?? 1) + 1}`
}
