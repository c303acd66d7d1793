import { z } from 'zod'
import { endpoints } from './endpoint.ts'
import { tokenScopes } from './enums.ts'
import { Description, Id, Name, Timestamp } from './shapes.ts'

export const Token = z.object({
  id: Id,
  name: z.string(),
  scope: z.enum(tokenScopes),
  createdAt: Timestamp,
  expiresAt: Timestamp.nullish(),
  /** Rounded to the minute. */
  lastUsedAt: Timestamp.nullish(),
})
/** Only this answer contains the text of the token. */
export const TokenCreated = Token.extend({ token: z.string() })
export const TokenWrite = z.object({
  name: Name,
  /** 0: never expires. */
  expirationInDays: z.int().min(0).max(3_650),
  scope: z.enum(tokenScopes).default('full'),
})
const serviceAccountRoles = ['admin', 'user'] as const
export const ServiceAccountWrite = z.object({ name: Name, description: Description, role: z.enum(serviceAccountRoles) })
export const ServiceAccount = z.object({
  id: Id,
  name: z.string(),
  description: z.string().nullish(),
  role: z.enum(serviceAccountRoles),
  createdAt: Timestamp,
  createdBy: z.string(),
  tokens: z.array(Token),
})

const accounts = '/api/:teamSlug/service-accounts'

export const tokenEndpoints = endpoints({
  'tokens.list': {
    summary: 'List your API tokens',
    route: 'GET /api/tokens',
    response: z.array(Token),
    permission: 'session',
    token: 'never',
  },
  'tokens.get': {
    summary: 'Get one of your API tokens',
    route: 'GET /api/tokens/:tokenId',
    response: Token,
    permission: 'session',
    token: 'never',
  },
  'tokens.create': {
    summary: 'Create an API token; its text is returned once',
    route: 'POST /api/tokens',
    body: TokenWrite,
    status: 201,
    response: TokenCreated,
    errors: ['alreadyExists', 'preconditionFailed'],
    permission: 'session',
    audit: false,
    token: 'never',
    recentSignIn: true,
  },
  'tokens.delete': {
    summary: 'Revoke one of your API tokens',
    route: 'DELETE /api/tokens/:tokenId',
    permission: 'session',
    audit: false,
    token: 'never',
  },
  'service-accounts.list': {
    summary: 'List the service accounts of a team with their tokens',
    route: `GET ${accounts}`,
    response: z.array(ServiceAccount),
    permission: 'service-accounts.read',
    token: 'never',
  },
  'service-accounts.create': {
    summary: 'Create a service account, which belongs to the team and not to a user',
    route: `POST ${accounts}`,
    body: ServiceAccountWrite,
    status: 201,
    response: ServiceAccount,
    errors: ['alreadyExists'],
    permission: 'service-accounts.edit',
    audit: 'service-account',
    token: 'never',
  },
  'service-accounts.update': {
    summary: 'Update the name or the role of a service account',
    route: `PUT ${accounts}/:serviceAccountId`,
    body: ServiceAccountWrite,
    errors: ['alreadyExists'],
    permission: 'service-accounts.edit',
    audit: 'service-account',
    token: 'never',
  },
  'service-accounts.delete': {
    summary: 'Delete a service account and revoke its tokens',
    route: `DELETE ${accounts}/:serviceAccountId`,
    permission: 'service-accounts.edit',
    audit: 'service-account',
    token: 'never',
  },
  'service-accounts.create-token': {
    summary: 'Create a token of a service account; its text is returned once',
    route: `POST ${accounts}/:serviceAccountId/tokens`,
    body: TokenWrite,
    status: 201,
    response: TokenCreated,
    errors: ['alreadyExists', 'preconditionFailed'],
    permission: 'service-accounts.edit',
    audit: 'service-account-token',
    token: 'never',
    recentSignIn: true,
  },
  'service-accounts.delete-token': {
    summary: 'Revoke a token of a service account',
    route: `DELETE ${accounts}/:serviceAccountId/tokens/:tokenId`,
    permission: 'service-accounts.edit',
    audit: 'service-account-token',
    token: 'never',
  },
})
