import { limits, type ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { listByIds } from '../deployments/index.ts'
import {
  selectDisabledNotifications,
  selectFailedPipelines,
  selectFailures,
  selectPendingDigests,
  selectUnreachable,
} from './attention-store.ts'

type Attention = ResponseInput<'dashboard.attention'>

export async function getAttention(app: App, { team }: Caller): Promise<Attention> {
  const [failures, unreachableNodes, pending, failedPipelines, disabledNotifications] = await Promise.all([
    selectFailures(app, team.id),
    selectUnreachable(app, team.id),
    selectPendingDigests(app, team.id),
    selectFailedPipelines(app, team.id),
    selectDisabledNotifications(app, team.id),
  ])
  const ids = [...cut(failures), ...cut(pending)].map(({ deploymentId }) => deploymentId)
  const deployments = new Map((await listByIds(app, team.id, ids)).map((one) => [one.id, one]))
  /** A deployment that was deleted in between is left out. */
  const withDeployment = <T extends { deploymentId: string }>(rows: readonly T[]) =>
    cut(rows).flatMap(({ deploymentId, ...row }) => {
      const deployment = deployments.get(deploymentId)
      return deployment ? [{ ...row, deployment }] : []
    })
  return {
    failedDeployments: withDeployment(failures),
    unreachableNodes: cut(unreachableNodes),
    pendingDigests: withDeployment(pending),
    failedPipelines: cut(failedPipelines),
    disabledNotifications: cut(disabledNotifications),
    truncated: [
      ...toName('failedDeployments', failures),
      ...toName('unreachableNodes', unreachableNodes),
      ...toName('pendingDigests', pending),
      ...toName('failedPipelines', failedPipelines),
      ...toName('disabledNotifications', disabledNotifications),
    ],
  }
}

const cut = <T>(rows: readonly T[]): T[] => rows.slice(0, limits.attention)

/** The name of a list that has more than is returned. */
const toName = (name: Attention['truncated'][number], rows: readonly unknown[]) =>
  rows.length > limits.attention ? [name] : []
