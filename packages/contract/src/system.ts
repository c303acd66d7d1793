import { z } from 'zod'
import { endpoints } from './endpoint.ts'
import { inTeam } from './shapes.ts'

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
/** First steps; `resourceId` names where the step was done or goes on (backend.md 4.14). */
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
  /** The name by which existing consoles read the former (backend.md 2.3). */
  auditLogEntries: z.int(),
  projects: z.int(),
  versions: z.int(),
  deployments: z.int(),
  failedDeployments: z.int(),
  nodes: z.int(),
  registries: z.int(),
  inProgressDeployments: z.int(),
  onboarding: Onboarding,
})
const flow = { flow: z.string().max(128), csrfToken: z.string().max(1_024), captcha: z.string().max(8_192).nullish() }
const email = z.string().trim().min(3).max(320)
const password = z.string().min(1).max(1_024)
const personName = z.string().trim().max(16)
/** What the sign-in pages post; the identity service's flow judges it (backend.md 2.13). */
export const LoginWrite = z.object({
  ...flow,
  method: z.enum(['password', 'code', 'oidc']),
  email: email.optional(),
  password: password.optional(),
  provider: z.string().max(64).optional(),
})
export const RegisterWrite = z.object({
  ...flow,
  method: z.enum(['password', 'oidc']),
  email,
  password: password.optional(),
  firstName: personName.min(1),
  lastName: personName.nullish(),
  provider: z.string().max(64).optional(),
})
export const VerifyWrite = z.object({ ...flow, email: email.optional(), code: z.string().trim().max(32).optional() })
/**
 * A relayed answer: what the identity service said, with its cookies. 201 with Location where the browser must go on. A refusal keeps the
 * identity service's status and its body, to which the fields of our errors are added: `error`, `description` (the first message),
 * and the whole flow once more in `value`, with `ui.messages` and the messages of each node. 410: the flow has expired.
 * 409 alreadyExists `session`: signed in already.
 */
const Relayed = z.unknown()

export const systemEndpoints = endpoints({
  'system.health': {
    summary: 'Is this process alive',
    method: 'GET',
    path: '/api/health',
    status: 200,
    response: Health,
    errors: [],
    permission: 'public',
    audit: false,
  },
  'system.status': {
    summary: 'State of every part',
    method: 'GET',
    path: '/api/status',
    status: 200,
    response: Status,
    errors: [],
    permission: 'public',
    audit: false,
  },
  'auth.register': {
    summary: 'Submit a registration flow',
    method: 'POST',
    path: '/api/auth/register',
    body: RegisterWrite,
    status: 200,
    response: Relayed,
    errors: ['alreadyExists', 'tooManyRequests', 'serviceUnavailable'],
    permission: 'public',
    audit: false,
  },
  'auth.login': {
    summary: 'Submit a login flow',
    method: 'POST',
    path: '/api/auth/login',
    body: LoginWrite,
    status: 200,
    response: Relayed,
    errors: ['alreadyExists', 'tooManyRequests', 'serviceUnavailable'],
    permission: 'public',
    audit: false,
  },
  'auth.logout': {
    summary: 'Start to log out: answers the address that ends the session',
    method: 'POST',
    path: '/api/auth/logout',
    status: 200,
    response: z.object({ url: z.string() }),
    errors: ['serviceUnavailable'],
    permission: 'public',
    audit: false,
  },
  'auth.verify': {
    summary: 'Ask for or submit a verification code',
    method: 'POST',
    path: '/api/auth/verify',
    body: VerifyWrite,
    status: 200,
    response: Relayed,
    errors: ['tooManyRequests', 'serviceUnavailable'],
    permission: 'public',
    audit: false,
  },
  'dashboard.get': {
    summary: 'Counters and first steps of a team',
    method: 'GET',
    path: '/api/:teamSlug/dashboard',
    params: inTeam,
    status: 200,
    response: Dashboard,
    errors: [],
    permission: 'dashboard.read',
    audit: false,
  },
})
