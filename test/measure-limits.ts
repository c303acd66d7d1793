/**
 * What measure.test.ts accepts for now, by workspace. A number may only become smaller, and an entry is deleted when nothing needs it. A workspace
 * without an entry has none.
 */

/** Type assertions in production code. */
export const casts: Record<string, number> = {
  'apps/agent': 60,
  'apps/console': 110,
  'apps/identity': 55,
  'apps/server': 100,
  bench: 7,
  'packages/client': 9,
  'packages/config-editor': 18,
  'packages/contract': 15,
  'packages/dev-env': 1,
  'packages/postgres': 12,
  'packages/service-kit': 19,
  scripts: 7,
}

/** Directories that import each other in a circle. */
export const directoriesInCircles: Record<string, number> = {
  'apps/agent': 6,
  'apps/console': 10,
  'apps/identity': 13,
}

/** Functions and components that are too long, by name, with their lines. */
export const longFunctions: Record<string, Record<string, number>> = {
  'apps/agent': {
    assemble: 88,
    createCommands: 229,
    'createCommands (inner)': 150,
    createContainerEngine: 89,
    createEventHub: 86,
    createGate: 122,
    createGateKeeper: 117,
    createLiveView: 91,
    createPorts: 116,
    createProgressReporter: 82,
    createRegistryDigests: 123,
    createRelay: 98,
    createReleases: 197,
    desiredOf: 98,
    gateSteps: 104,
    makeJournal: 91,
    openBucket: 94,
    openCredentials: 98,
    openDataDirectory: 117,
    openDockerDriver: 133,
    planRelease: 88,
    resolveAndPull: 100,
    run: 129,
    runGate: 170,
    startIn: 176,
    watchContainers: 103,
  },
  'apps/console': {
    DeploymentView: 196,
    DeploymentsPage: 197,
    LogViewer: 171,
    NodeContainers: 179,
    ProgressView: 227,
    SettingsForm: 169,
    TeamEntries: 182,
    createDraftSession: 144,
    useConfigDraft: 105,
    useContainerActions: 86,
    useLogRows: 81,
    useMemberActions: 83,
    useStart: 130,
    useValues: 149,
  },
  'packages/config-editor': { createDraftSession: 144 },
  'apps/identity': {
    anonymous: 138,
    startOutbox: 94,
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
