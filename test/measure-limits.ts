/**
 * What measure.test.ts accepts for now, by workspace. A number may only become smaller, and an entry is deleted when nothing needs it. A workspace
 * without an entry has none.
 */

/** Type assertions in production code. */
export const casts: Record<string, number> = {
  'apps/agent': 5,
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
  'apps/console': 10,
  'apps/identity': 13,
  'apps/server': 21,
}

/** Functions and components that are too long, by name, with their lines. */
export const longFunctions: Record<string, Record<string, number>> = {
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
  'apps/server': {
    createAccounts: 111,
    createAgentService: 224,
    createAuthentication: 93,
    createBrowser: 87,
    createEditors: 123,
    createHubApi: 82,
    createJobs: 92,
    createLeases: 122,
    createLink: 178,
    createLiveHub: 245,
    createLocalAgents: 93,
    createMessages: 84,
    createNodeLinks: 90,
    createNodeState: 141,
    createPostgresBus: 90,
    createPresence: 126,
    createV2Client: 92,
    deploymentChannels: 112,
    runAgentProcess: 108,
    start: 124,
    watchLog: 121,
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
