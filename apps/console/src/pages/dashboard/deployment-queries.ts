import type { DeploymentStatus } from '@crux/contract'
import { apiQuery } from '../../api/client.ts'

/** A short list; the list of deployments has the others. */
const shown = 5

export const latestQuery = (teamSlug: string) =>
  apiQuery('deployments.list', { params: { teamSlug }, query: { skip: 0, take: shown } })
export const latestOfQuery = (teamSlug: string, status: DeploymentStatus) =>
  apiQuery('deployments.list', { params: { teamSlug }, query: { skip: 0, take: shown, status } })
