import type { ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import { countEntriesOf, withTimeZone } from '../audit-log/index.ts'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import { selectActivity } from './activity-store.ts'
import { getAttention } from './attention.ts'
import { selectCounters, selectSteps } from './store.ts'

type Operations = 'dashboard.get' | 'dashboard.attention' | 'dashboard.activity'

export const dashboardRoutes = (app: App): Handlers<Operations> => ({
  'dashboard.get': ({ caller }) => getDashboard(app, caller),
  'dashboard.attention': ({ caller }) => getAttention(app, caller),
  'dashboard.activity': ({ caller, query }) =>
    withTimeZone(query.timeZone, () => selectActivity(app, { teamId: caller.team.id, ...query, until: new Date() })),
})

async function getDashboard(app: App, { team }: Caller): Promise<ResponseInput<'dashboard.get'>> {
  const [counters, auditLog, steps] = await Promise.all([
    selectCounters(app.database.pool, team.id),
    countEntriesOf(app, team.id),
    selectSteps(app.database.pool, team.id),
  ])
  const { nodes, registries, inProgressDeployments, ...shown } = counters
  const step = (resourceId: string | null) => ({ done: resourceId !== null, resourceId })
  return {
    ...shown,
    auditLog,
    more: { nodes, registries, inProgressDeployments },
    onboarding: {
      signUp: { done: true },
      createTeam: { done: true, resourceId: team.id },
      createNode: step(steps.nodeId),
      createProject: step(steps.projectId),
      createVersion: step(steps.versionId),
      addImages: step(steps.imageConfigId),
      addDeployment: step(steps.deploymentId),
      deploy: { done: steps.deployed, resourceId: steps.deploymentId },
    },
  }
}
