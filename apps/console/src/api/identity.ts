import { ApiError } from '@crux/client'
import type {
  LoginFlow,
  RecoveryFlow,
  RegistrationFlow,
  Session,
  SettingsFlow,
  UiNode,
  VerificationFlow,
} from '@ory/kratos-client'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { type FlowKind, identityCalls } from './identity-calls.ts'
import { textAt, valueAt } from './unknown-data.ts'

/** The identity service's public API under /kratos on our own origin. The types come from its client. */
const calls = identityCalls('/kratos')

type Flows = {
  login: LoginFlow
  registration: RegistrationFlow
  verification: VerificationFlow
  recovery: RecoveryFlow
  settings: SettingsFlow
}

export type { FlowKind }
export type Flow<K extends FlowKind = FlowKind> = Flows[K]

export type Identity = {
  id: string
  email: string
  firstName: string
  lastName: string
  verified: boolean
  /** When the user last authenticated. */
  authenticatedAt: string
  sessionId: string
}
/** Signed in with the first factor only, although the second is required. */
export type AwaitingSecondFactor = 'second-factor'

/** The identity of the session's user; null without a session. */
export const identityQuery = () =>
  queryOptions<Identity | AwaitingSecondFactor | null>({
    queryKey: ['identity'],
    staleTime: 60_000,
    retry: false,
    queryFn: async ({ signal }) => {
      const answer = await translateNetworkError(calls.toSession({ signal }), signal)
      if (answer.status === 401) return null
      if (answer.status === 403) {
        const refused = await failure(answer)
        if (refused.error === 'session_aal2_required') return 'second-factor'
        throw refused
      }
      if (!answer.ok) throw await failure(answer)
      const session = (await answer.json()) as Session
      const address = session.identity?.verifiable_addresses?.[0]
      const traits = session.identity?.traits as Traits | undefined
      return {
        id: session.identity?.id ?? '',
        email: address?.value ?? traits?.email ?? '',
        firstName: traits?.name?.first ?? '',
        lastName: traits?.name?.last ?? '',
        // An identity without addresses to verify counts as verified.
        verified: address?.verified ?? true,
        authenticatedAt: session.authenticated_at ?? '',
        sessionId: session.id,
      }
    },
  })

/** The identity of a user that has completed the sign-in. */
export const isSignedInFully = (identity: Identity | AwaitingSecondFactor | null | undefined): identity is Identity =>
  typeof identity === 'object' && identity !== null

type Traits = { email?: string; name?: { first?: string; last?: string } }

/** Starts a browser flow, or fetches the one that an address names; an expired one is replaced by a new one. */
export async function openFlow<K extends FlowKind>(
  kind: K,
  id: string | undefined,
  query: Record<string, string | undefined> = {},
): Promise<Flow<K>> {
  if (id) {
    const answer = await translateNetworkError(calls.getFlow(kind, id))
    if (answer.ok) return (await answer.json()) as Flow<K>
    if (answer.status !== 404 && answer.status !== 410 && answer.status !== 403) throw await failure(answer)
  }
  return (await readJson(calls.createBrowserFlow(kind, query))) as Flow<K>
}

/** The text of an error that the identity service stored before it sent the browser to /error?id=. */
export async function readFlowError(id: string): Promise<{ message: string; reason?: string }> {
  const body = await readJson(calls.getFlowError(id))
  return { message: textAt(body, 'error', 'message') ?? '', reason: textAt(body, 'error', 'reason') }
}

/** The first node of a flow's form with a name, or with an id if it is not an input. */
export const getNode = (flow: Flow | undefined, name: string): UiNode | undefined =>
  flow?.ui.nodes.find(
    ({ attributes }) =>
      ('name' in attributes && attributes.name === name) || ('id' in attributes && attributes.id === name),
  )

export function fieldValue(flow: Flow | undefined, name: string): string {
  const attributes = getNode(flow, name)?.attributes
  const value = attributes && 'value' in attributes ? attributes.value : ''
  return typeof value === 'string' ? value : ''
}

export const getCsrfToken = (flow: Flow): string => fieldValue(flow, 'csrf_token')

/** The response to a submit that redirects the browser. */
export type BrowserRedirect = { redirect_browser_to: string }

/**
 * Submits a flow to the identity service itself, for actions that the product's API does not relay (factors, passkeys).
 *
 * @throws ApiError with the flow in `value`, when the flow rejects the values
 */
export async function submitFlow<K extends FlowKind>(
  kind: K,
  flow: Flow<K>,
  fields: Record<string, unknown>,
): Promise<unknown> {
  const answer = await translateNetworkError(
    calls.updateFlow(kind, flow.id, { csrf_token: getCsrfToken(flow), ...fields }),
  )
  const body: unknown = await answer.json().catch(() => undefined)
  if (answer.ok) return body
  if (typeof body === 'object' && body !== null && 'ui' in body)
    throw new ApiError({ status: answer.status, error: 'flow', description: '', value: body })
  if (answer.status === 422 && isBrowserRedirect(body)) {
    location.assign(body.redirect_browser_to)
    // The page is being left.
    return new Promise(() => {})
  }
  throw identityError(answer, body)
}

const isBrowserRedirect = (body: unknown): body is BrowserRedirect =>
  typeof body === 'object' && body !== null && 'redirect_browser_to' in body

/** The user's other sessions, newest first, without that of this browser. */
export const sessionsQuery = () =>
  queryOptions<Session[]>({
    queryKey: ['sessions'],
    queryFn: async ({ signal }) => (await readJson(calls.listMySessions(250, { signal }), signal)) as Session[],
  })

/** The session of this browser with its device. */
export const currentSessionQuery = () =>
  queryOptions<Session>({
    queryKey: ['sessions', 'current'],
    queryFn: async ({ signal }) => (await readJson(calls.toSession({ signal }), signal)) as Session,
  })

/** Ends one other session, or without an id all others. */
export async function endSessions(id?: string): Promise<void> {
  const answer = await translateNetworkError(id ? calls.disableMySession(id) : calls.disableMyOtherSessions())
  if (!answer.ok) throw await failure(answer)
}

/** The security events of the user's account, as the identity service recorded them. */
export type SecurityEvent = {
  id: string
  event: string
  details: { method?: string; provider?: string; provider_label?: string; factor?: string; from?: string; to?: string }
  ip_address: string
  user_agent: string
  created_at: string
}

/** Newest first, page by page. Null where the identity service keeps no such log: a real Ory Kratos has none. */
export const securityLogQuery = () =>
  infiniteQueryOptions({
    queryKey: ['security-log'],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ signal, pageParam }) => {
      const answer = await translateNetworkError(
        calls.listSecurityLog({ size: 50, token: pageParam }, { signal }),
        signal,
      )
      if (answer.status === 404 || answer.status === 405) return { events: null, next: undefined }
      if (!answer.ok) throw await failure(answer)
      const link = answer.headers.get('link')?.match(/<([^>]*)>;\s*rel="next"/)?.[1]
      const next = link ? (new URL(link, location.origin).searchParams.get('page_token') ?? undefined) : undefined
      return { events: (await answer.json()) as SecurityEvent[], next }
    },
    getNextPageParam: (page) => page.next,
  })

async function translateNetworkError(sent: Promise<Response>, signal?: AbortSignal): Promise<Response> {
  try {
    return await sent
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw new ApiError({ status: 0, error: 'networkError', description: 'Network Error' }, { cause })
  }
}

async function readJson(sent: Promise<Response>, signal?: AbortSignal): Promise<unknown> {
  const answer = await translateNetworkError(sent, signal)
  if (!answer.ok) throw await failure(answer)
  return answer.json()
}

const failure = async (answer: Response): Promise<ApiError> =>
  identityError(answer, await answer.json().catch(() => undefined))

/** Errors of the identity service have their own shape: {error: {id, code, message, reason}}. */
function identityError(answer: Response, body: unknown): ApiError {
  const error = valueAt(body, 'error')
  return new ApiError({
    status: answer.status,
    error: textAt(error, 'id') ?? 'UNKNOWN',
    description: textAt(error, 'reason') ?? textAt(error, 'message') ?? 'Unknown error',
    requestId: answer.headers.get('x-request-id') ?? undefined,
  })
}
