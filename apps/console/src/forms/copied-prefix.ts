/** "shop" becomes "shop-copy", which becomes "shop-copy-2". A copy never starts with the prefix of its original. */
export function copiedPrefix(prefix: string): string {
  const [, base = prefix, number] = /^(.+)-copy(?:-(\d+))?$/.exec(prefix) ?? []
  return base === prefix ? `${prefix}-copy` : `${base}-copy-${Number(number ?? 1) + 1}`
}
