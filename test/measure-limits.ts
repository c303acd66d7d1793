/**
 * What measure.test.ts accepts for now, by workspace. A number may only become smaller, and an entry is deleted when nothing needs it. A workspace
 * without an entry has none.
 */

/** Type assertions in production code. */
export const casts: Record<string, number> = {
  'apps/agent': 3,
  'apps/console': 67,
  'apps/identity': 2,
  'apps/server': 38,
  bench: 7,
  'packages/client': 9,
  'packages/config-editor': 11,
  'packages/contract': 12,
  'packages/dev-env': 1,
  'packages/postgres': 12,
  'packages/service-kit': 19,
  scripts: 7,
}

/** Functions and components that are too long, by name, with their lines. */
export const longFunctions: Record<string, Record<string, number>> = {
  'apps/identity': {
    anonymous: 138,
  },
  'apps/server': {
    createLeases: 122,
    createPresence: 126,
  },
  bench: {
    firstDeploys: 90,
    followLog: 96,
    redeploys: 87,
  },
  'packages/client': {
    createLive: 114,
    createSubscriptions: 100,
  },
  'packages/dev-env': {
    superviseProcess: 115,
  },
  'packages/postgres': {
    listen: 89,
  },
}
