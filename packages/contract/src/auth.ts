import { z } from 'zod'
import { endpoints } from './endpoint.ts'
import { limits } from './limits.ts'
import { Id, Timestamp } from './shapes.ts'

/** The cookie of a session, which the identity service sets under the name that Ory Kratos uses. */
export const sessionCookieName = 'ory_kratos_session'

const flow = { flow: z.string().max(128), csrfToken: z.string().max(1_024), captcha: z.string().max(8_192).nullish() }
const code = z.string().trim().max(32)
const email = z.string().trim().min(3).max(320)
/**
 * A text whose length is counted in characters, as JSON Schema and the identity service do. The lengths of zod count UTF-16 units, of which an emoji
 * has two.
 */
const text = ({ min, max }: { min: number; max: number }) =>
  z
    .string()
    .check(({ value: input, issues }) => {
      const length = [...input].length
      const issue = { origin: 'string', input, inclusive: true } as const
      if (length < min) issues.push({ ...issue, code: 'too_small', minimum: min })
      if (length > max) issues.push({ ...issue, code: 'too_big', maximum: max })
    })
    .meta({ minLength: min, maxLength: max })
/** A password that exists, or that the identity service is to judge. */
const password = text({ ...limits.password, min: 1 })
/** A password that a user chooses. The identity service also refuses passwords that are easy to guess. */
export const NewPassword = text(limits.password)
const personName = z.string().trim().max(16)
/** The body of the sign-in pages, which the flow of the identity service validates. */
export const LoginWrite = z.object({
  ...flow,
  method: z.enum(['password', 'code', 'oidc']),
  email: email.optional(),
  password: password.optional(),
  /** For the method code: the code to check. Without it, a code is sent to `email`. */
  code: code.optional(),
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
/** Verification and recovery: `email` requests a code, `code` submits one. */
export const CodeWrite = z.object({ ...flow, email: email.optional(), code: code.optional() })
/** The data of an invitation mail: its flow and code, and the inviting team. */
export const CreateAccountWrite = z.object({ flow: z.string().max(128), code, team: Id })
export const ProfileWrite = z.object({ ...flow, email, firstName: personName.min(1), lastName: personName.nullish() })
export const PasswordWrite = z.object({
  ...flow,
  password,
  signOutOthers: z.boolean().optional(),
  revokeTokens: z.boolean().optional(),
})
export const ProviderWrite = z.object({ ...flow, provider: z.string().min(1).max(64) })
/**
 * The answer of the identity service, with its cookies. 201 with Location where the browser must continue at another address. An error keeps the
 * status and the body of the identity service, to which the fields of our errors are added: `error`, `description` (the first message), and the whole
 * flow in `value`, with `ui.messages` and the messages of each node. 410: the flow has expired. 409 alreadyExists `session`: signed in already.
 */
const Relayed = z.unknown()

/** A mail that was written to a file because no mail server is configured, for the operator of this installation. */
export const CapturedMail = z.object({
  id: z.string(),
  createdAt: Timestamp,
  to: z.string(),
  subject: z.string(),
  text: z.string(),
  html: z.string(),
})

/** A form of a flow before the sign-in. The identity service keeps a security log of its own, so that nothing is recorded here. */
const flowForm = { response: Relayed, permission: 'public', audit: false } as const
/** A form of the account settings. */
const accountForm = {
  ...flowForm,
  errors: ['tooManyRequests', 'serviceUnavailable'],
  permission: 'session',
  pendingSession: true,
  token: 'never',
} as const

export const authEndpoints = endpoints({
  'auth.register': {
    summary: 'Submit a registration flow',
    ...flowForm,
    route: 'POST /api/auth/register',
    body: RegisterWrite,
    errors: ['alreadyExists', 'tooManyRequests', 'serviceUnavailable'],
  },
  'auth.login': {
    summary: 'Submit a sign-in flow',
    ...flowForm,
    route: 'POST /api/auth/login',
    body: LoginWrite,
    errors: ['alreadyExists', 'tooManyRequests', 'serviceUnavailable'],
  },
  'auth.logout': {
    summary: 'Start a sign-out; returns the address that ends the session',
    route: 'POST /api/auth/logout',
    response: z.object({ url: z.string() }),
    errors: ['serviceUnavailable'],
    permission: 'public',
    audit: false,
  },
  'auth.verify': {
    summary: 'Request or submit a verification code',
    ...flowForm,
    route: 'POST /api/auth/verify',
    body: CodeWrite,
    errors: ['tooManyRequests', 'serviceUnavailable'],
  },
  'auth.recovery': {
    summary: 'Request or submit a recovery code',
    ...flowForm,
    route: 'POST /api/auth/recovery',
    body: CodeWrite,
    errors: ['alreadyExists', 'tooManyRequests', 'serviceUnavailable'],
  },
  'auth.create-account': {
    summary: "Redeem an invitation's code: signs in, joins the team, 201 with the page for a password",
    ...flowForm,
    route: 'POST /api/auth/create-account',
    body: CreateAccountWrite,
    errors: ['alreadyExists', 'preconditionFailed', 'tooManyRequests', 'serviceUnavailable'],
  },
  // Public, although it creates a code: docs/decisions.md#links-of-invitations.
  'auth.renew-invitation-code': {
    summary: 'Create another flow and code for a valid invitation, for anyone who has its link',
    route: 'POST /api/auth/create-account/code',
    body: z.object({ team: Id, invitation: z.string().min(16).max(256) }),
    response: z.object({ flow: z.string(), code: z.string() }),
    errors: ['preconditionFailed', 'tooManyRequests', 'serviceUnavailable'],
    permission: 'public',
    audit: false,
  },
  'auth.edit-profile': {
    summary: 'Update your name and email address',
    ...accountForm,
    route: 'POST /api/auth/settings/edit-profile',
    body: ProfileWrite,
  },
  'auth.change-password': {
    summary: 'Update your password; 403 if the session is too old for that',
    ...accountForm,
    route: 'POST /api/auth/settings/change-password',
    body: PasswordWrite,
  },
  'auth.link-provider': {
    summary: 'Link a sign-in provider; 201 with the address that continues it',
    ...accountForm,
    route: 'POST /api/auth/settings/oidc',
    body: ProviderWrite,
  },
  'auth.unlink-provider': {
    summary: 'Unlink a sign-in provider; the last way to sign in cannot be unlinked',
    ...accountForm,
    route: 'DELETE /api/auth/settings/oidc',
    body: ProviderWrite,
  },
  'mails.list': {
    summary: 'List the mail captured while no mail server is configured, newest first',
    route: 'POST /api/mails',
    body: z.object({ token: z.string().min(1).max(256) }),
    response: z.array(CapturedMail),
    errors: ['tooManyRequests'],
    permission: 'public',
    audit: false,
  },
})
