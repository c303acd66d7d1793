import type { z } from 'zod'
import type { TokenScope } from './enums.ts'
import type { ErrorCode } from './errors.ts'
import type { Permission } from './policy.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * One row of the table from which the mount, the client, OpenAPI, rights, audit and form limits follow.
 * - `path`: with `:parameters`; a path with `:teamSlug` is authorised in that team, `:teamId` likewise.
 * - `permission`: `public` and `session` stand for no team right; `install-token` for a node's install token, `registry-hook` for the
 *   token of the registry in the path.
 * - `audit`: the label under which a successful or refused change is recorded; `false` for reads and for what must not be recorded.
 * - `errors`: codes beside those that every endpoint may answer (invalidArgument, unauthorized, forbidden, notFound, internalError).
 */
export type EndpointSpec = {
  summary: string
  method: Method
  path: `/${string}`
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  status: 200 | 201 | 202 | 204
  response?: z.ZodType
  /** Answers something other than JSON (a script, a stream): the handler returns a string or Buffer. */
  contentType?: string
  errors: readonly ErrorCode[]
  permission: Permission | 'public' | 'session' | 'install-token' | 'registry-hook'
  audit: string | false
  /**
   * The least scope of a token that may call it; absent: `read` for GET, `full` otherwise. `never`: only a person's session may
   * (a token manages neither tokens nor members nor itself, decision 17). `deployment-token`: also the token of that deployment.
   */
  token?: TokenScope | 'deployment-token' | 'never'
  /** Also for a session that has to set a password or to show a second factor before anything else. */
  unsettled?: true
  /** The body holds a configuration as `config`, which clients may write short or unfinished (`readConfigInput` of the rules). */
  configInput?: true
  /**
   * Only for a session whose person has proven who they are within `recentSignInMs`; otherwise 403 with property `session`. For what
   * outlives the session itself: a stolen one must not make credentials that a theft response leaves alive.
   */
  recentSignIn?: true
  /** Bytes of a body, where less than the general limit will do. */
  bodyBytesMax?: number
  /** False: the audit entry keeps no body (it may hold credentials). */
  auditBody?: boolean
}

export const endpoint = <const E extends EndpointSpec>(spec: E): E => spec
export const endpoints = <const T extends Record<string, EndpointSpec>>(table: T): T => table
