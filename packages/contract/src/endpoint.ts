import type { z } from 'zod'
import type { HookKind, PipelineType, TokenScope } from './enums.ts'
import type { ErrorCode } from './errors.ts'
import { type WithPathParams, withPathParams } from './path-params.ts'
import type { Permission } from './policy.ts'

/**
 * One endpoint of the table from which the routes, the client, OpenAPI, rights, audit and form limits are derived.
 * - `method` and `path`: a row declares both as `route`. A path has `:parameters`; one with `:teamSlug` is authorized in that team, `:teamId` likewise.
 * - `permission`: `public` and `session` require no team right; `install-token` requires a node's install token, `registry-hook` the secret of a
 *   hook of the registry in the path, in the form that `hook` names; `pipeline-hook` the secret of the hook of the pipeline in the path.
 * - `status`: of a success. A row without one has 200, or 204 if it has no answer.
 * - `audit`: the label under which a successful or refused change is recorded; `false` for actions that must not be recorded. Every endpoint but a
 *   GET has to declare it, so that no change is forgotten.
 * - `errors`: codes in addition to those of every endpoint (invalidArgument, unauthorized, forbidden, notFound, internalError).
 */
export type EndpointSpec = EndpointBase & ({ method: 'GET'; audit?: false } | { method: Change; audit: string | false })
type Change = 'POST' | 'PUT' | 'PATCH' | 'DELETE'

type EndpointBase = Properties & {
  path: `/${string}`
  /** Made of the path. */
  params?: z.ZodObject
  status: number
}

type Properties = {
  summary: string
  query?: z.ZodObject
  body?: z.ZodType
  response?: z.ZodType
  /** The type of an answer that is not JSON (a script, a stream): the handler returns a string or Buffer. */
  contentType?: string
  errors?: readonly ErrorCode[]
  permission: Permission | 'public' | 'session' | 'install-token' | 'registry-hook' | 'pipeline-hook'
  /** For `registry-hook`: the service that sends, which decides how it is verified. */
  hook?: HookKind
  /** For `pipeline-hook`: the service that sends, which decides how it is verified. */
  pipelineHook?: PipelineType
  /**
   * The minimum scope of a token for this endpoint; absent: `read` for GET, `full` otherwise. `never`: only for sessions (a token manages neither
   * tokens nor members nor itself, so that a stolen one cannot extend its access). `deployment-token`: also the token of that deployment.
   */
  token?: TokenScope | 'deployment-token' | 'never'
  /** Also for a session that has to set a password or to prove a second factor first. */
  pendingSession?: true
  /**
   * The body contains a configuration as `config`, which clients may write short or unfinished (`readConfigInput` of the rules). `images`: each of
   * its `images` contains one, which may be short but not unfinished.
   */
  configInput?: true | 'images'
  /**
   * Only for a session whose user has signed in within `recentSignInMs`; otherwise 403 with property `session`. For credentials that outlive the
   * session: a stolen session must not create credentials that stay valid after the session is revoked.
   */
  recentSignIn?: true
  /** The size limit of the body in bytes, where it is not the general limit. */
  bodyBytesMax?: number
  /** False: the audit entry stores no body (it may contain credentials). */
  auditBody?: boolean
  /**
   * The team of the audit entry where it is not simply the team of the path. `created`: the team in the answer. `deleted`: the team of the path,
   * whose audit log is deleted with it, so that only refusals are recorded. `named`: the team that the body names, once the handler has checked that
   * the caller is a member of it.
   */
  auditTeam?: 'created' | 'deleted' | 'named'
  /**
   * What was created, for the header Location of a 201. Absent: a resource below the path, with the id of the answer. `sibling`: a copy of the
   * resource in the path, with the id of the answer. `collection`: a resource of the
   * collection that the path names before its verb. `part`: a part of the resource in the path, which shows it. `deployment`: a deployment of the
   * team in the path.
   */
  location?: 'sibling' | 'collection' | 'part' | 'deployment'
}

/** An endpoint as the table declares it. */
type Row = Properties & { status?: 201 | 204 } & (
    | { route: `GET /${string}`; audit?: false }
    | { route: `${Change} /${string}`; audit: string | false }
  )
type Routed<R> = R extends { route: `${infer Method} ${infer Path extends `/${string}`}` }
  ? Omit<R, 'route' | 'status'> & { method: Method; path: Path; status: number }
  : never

/** The table, with method, path, its parameters and status of each row. */
export function endpoints<const T extends Record<string, Row>>(
  table: T,
): WithPathParams<{ [Name in keyof T]: Routed<T[Name]> }>
/* @__NO_SIDE_EFFECTS__ */
export function endpoints(table: Record<string, Row>) {
  const routed = Object.entries(table).map(([name, { route, ...row }]) => {
    const [method, path = ''] = route.split(' ')
    const status = row.response || row.contentType ? 200 : 204
    return [name, { status, ...row, method, path }]
  })
  return withPathParams(Object.fromEntries(routed))
}
