import type { ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import { countEntriesOf, withTimeZone } from '../audit-log/index.ts'
import type { App } from '../context.ts'
import { countDeployments } from '../deployments/index.ts'
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
  const [[counters], { counts, total }, auditLog, [steps]] = await Promise.all([
    selectCounters(app, team.id),
    countDeployments(app, team.id),
    countEntriesOf(app, team.id),
    selectSteps(app, team.id),
  ])
  if (!counters || !steps) throw new Error('an aggregate returned no row')
  const { nodes, registries, ...shown } = counters
  const step = (resourceId: string | null) => ({ done: resourceId !== null, resourceId })
  return {
    ...shown,
    deployments: total,
    failedDeployments: counts.failed ?? 0,
    auditLog,
    more: { nodes, registries, inProgressDeployments: counts['in-progress'] ?? 0 },
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
