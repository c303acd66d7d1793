/**
 * What measure.test.ts accepts for now, by workspace. A number may only become smaller, and an entry is deleted when nothing needs it. A workspace
 * without an entry has none.
 */

/** Type assertions in production code. */
export const casts: Record<string, number> = {
  'apps/agent': 57,
  'apps/console': 90,
  'apps/identity': 55,
  'apps/server': 99,
  bench: 7,
  'packages/client': 9,
  'packages/config-editor': 18,
  'packages/contract': 12,
  'packages/dev-env': 1,
  'packages/postgres': 12,
  'packages/service-kit': 19,
  scripts: 7,
}

/** Functions and components that are too long, by name, with their lines. */
export const longFunctions: Record<string, Record<string, number>> = {
  'apps/agent': {
    assemble: 88,
    createContainerEngine: 89,
    createEventHub: 86,
    createGate: 122,
    createGateKeeper: 117,
    createLiveView: 91,
    createPorts: 116,
    createProgressReporter: 82,
    createRegistryDigests: 123,
    createRelay: 98,
    desiredOf: 98,
    gateSteps: 104,
    makeJournal: 91,
    openBucket: 94,
    openCredentials: 98,
    openDataDirectory: 118,
    openDockerDriver: 134,
    planRelease: 88,
    resolveAndPull: 100,
    runGate: 170,
    watchContainers: 103,
  },
  'apps/console': {
    DeploymentView: 196,
    LogViewer: 171,
    ProgressView: 227,
    SettingsForm: 169,
    useConfigDraft: 105,
    useContainerActions: 86,
    useLogRows: 81,
    useMemberActions: 83,
    useStart: 130,
    useValues: 149,
  },
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
  'packages/config-editor': {
    createDraftSession: 144,
  },
  'packages/dev-env': {
    superviseProcess: 115,
  },
  'packages/postgres': {
    listen: 89,
  },
}
