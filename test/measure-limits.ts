/**
 * What measure.test.ts accepts for now, by workspace. A number may only become smaller, and an entry is deleted when nothing needs it. A workspace
 * without an entry has none.
 */

/** Type assertions in production code. */
export const casts: Record<string, number> = {
  'apps/console': 47,
  'apps/identity': 2,
  'apps/server': 10,
  bench: 1,
  'packages/client': 2,
  scripts: 1,
}
