import type { DeploymentStatus } from '@crux/contract'
import { apiQuery } from '../../api/client.ts'

/** A short list; the list of deployments has the others. */
const shown = 5

/** The latest deployments of the team, of all states or of one. */
export const latestQuery = (teamSlug: string, status?: DeploymentStatus) =>
  apiQuery('deployments.list', { params: { teamSlug }, query: { skip: 0, take: shown, ...(status && { status }) } })

export const attentionQuery = (teamSlug: string) => apiQuery('dashboard.attention', { params: { teamSlug } })

/** The days begin at midnight of the browser's time zone. */
export const activityQuery = (teamSlug: string) => {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return apiQuery('dashboard.activity', { params: { teamSlug }, query: { timeZone } })
}
