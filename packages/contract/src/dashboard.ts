import { z } from 'zod'
import { Deployment } from './deployments.ts'
import { endpoints } from './endpoint.ts'
import { nodeTypes } from './enums.ts'
import { limits } from './limits.ts'
import { basic, Id, Timestamp } from './shapes.ts'

/** What needs attention, each list newest first with at most `limits.attention` entries; empty lists when nothing does. */
export const DashboardAttention = z.object({
  /** The newest release of their target failed: no later one of the project started at that node and prefix. */
  failedDeployments: z.array(z.object({ deployment: Deployment, release: z.int(), failedAt: Timestamp })),
  /** Nodes whose agent was connected before and is away. */
  unreachableNodes: z.array(basic(nodeTypes).extend({ since: Timestamp.nullish() })),
  /** Followed tags with another digest in their registry than the one that runs. */
  pendingDigests: z.array(
    z.object({
      deployment: Deployment,
      instanceId: Id,
      imageName: z.string(),
      imageTag: z.string(),
      digest: z.string(),
      since: Timestamp.nullish(),
    }),
  ),
  /** Pipelines whose newest run failed. */
  failedPipelines: z.array(
    z.object({ id: Id, name: z.string(), runId: Id, reason: z.string().nullish(), failedAt: Timestamp }),
  ),
  /** Notifications that Crux switched off, with the reason. */
  disabledNotifications: z.array(z.object({ id: Id, name: z.string(), problem: z.string() })),
  /** The lists that have more entries than are returned. */
  truncated: z.array(
    z.enum(['failedDeployments', 'unreachableNodes', 'pendingDigests', 'failedPipelines', 'disabledNotifications']),
  ),
})

/** One day (`2026-11-21`) in the requested time zone: the releases that ended then. */
export const DeploymentDay = z.object({ day: z.iso.date(), successful: z.int(), failed: z.int() })
export const DashboardActivity = z.object({
  /** Every day of the range, oldest first, also without deployments; the last one is today. */
  days: z.array(DeploymentDay),
  /**
   * The median time of successful releases, from the dispatch to the agent to the end; null without any. Of many, the
   * newest `limits.activityMedian` are taken.
   */
  medianMs: z.number().nullable(),
  /** The same for as many days before the range. */
  previousMedianMs: z.number().nullable(),
  /** A median is of the newest `limits.activityMedian` releases of its range. */
  medianLimited: z.boolean(),
})

export const dashboardEndpoints = endpoints({
  'dashboard.attention': {
    summary: 'Get what needs attention in a team',
    route: 'GET /api/:teamSlug/dashboard/attention',
    response: DashboardAttention,
    permission: 'dashboard.read',
  },
  'dashboard.activity': {
    summary: 'Count the deployments of a team per day, with their median time',
    route: 'GET /api/:teamSlug/dashboard/activity',
    query: z.object({
      days: z.coerce.number().int().min(1).max(limits.activityDays.max).default(limits.activityDays.default),
      /** IANA name: `Europe/Berlin`. */
      timeZone: z.string().max(64).default('UTC'),
    }),
    response: DashboardActivity,
    permission: 'dashboard.read',
  },
})
