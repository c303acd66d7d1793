import type { ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import { countEntriesOf } from '../audit-log/index.ts'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import { selectCounters, selectSteps } from './store.ts'

export const dashboardRoutes = (app: App): Handlers<'dashboard.get'> => ({
  'dashboard.get': ({ caller }) => getDashboard(app, caller),
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
