import { z } from 'zod'
import { endpoints } from './endpoint.ts'

export const ServiceStatus = z.object({
  status: z.enum(['operational', 'disrupted', 'unavailable']),
  version: z.string().nullish(),
})
export const Status = z.object({
  app: ServiceStatus,
  crux: ServiceStatus,
  kratos: ServiceStatus,
  database: ServiceStatus,
})
export const Health = ServiceStatus.extend({ lastMigration: z.string().nullish() })

const step = z.object({ done: z.boolean(), resourceId: z.string().nullish() })
/** First steps; `resourceId` is the resource of the step. */
export const Onboarding = z.object({
  signUp: step,
  createTeam: step,
  createNode: step,
  createProject: step,
  createVersion: step,
  addImages: step,
  addDeployment: step,
  deploy: step,
})
export const Dashboard = z.object({
  users: z.int(),
  auditLog: z.int(),
  projects: z.int(),
  versions: z.int(),
  deployments: z.int(),
  failedDeployments: z.int(),
  onboarding: Onboarding,
  /** Nested, because existing clients draw a card for every number of the first level. */
  more: z.object({ nodes: z.int(), registries: z.int(), inProgressDeployments: z.int() }),
})

/** `host` and `key` are present unless `disabled`. The key is public: it lets a browser send events and read nothing. */
export const UsageStatistics = z.object({
  disabled: z.boolean(),
  host: z.url().optional(),
  key: z.string().optional(),
})

export const systemEndpoints = endpoints({
  'system.health': {
    summary: 'Check whether this process is alive',
    route: 'GET /api/health',
    response: Health,
    permission: 'public',
  },
  'system.status': {
    summary: 'Get the state of every part',
    route: 'GET /api/status',
    response: Status,
    permission: 'public',
  },
  'quality-assurance.get': {
    summary: 'Get whether usage statistics are collected',
    route: 'GET /api/quality-assurance',
    response: UsageStatistics,
    permission: 'session',
  },
  'dashboard.get': {
    summary: 'Get the counters and the first steps of a team',
    route: 'GET /api/:teamSlug/dashboard',
    response: Dashboard,
    permission: 'dashboard.read',
  },
})
