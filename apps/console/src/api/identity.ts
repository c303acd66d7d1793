import { ApiError } from '@crux/client'
import type { LoginFlow, RegistrationFlow, Session, VerificationFlow } from '@ory/kratos-client'
import { queryOptions } from '@tanstack/react-query'

/** The identity service's public flow API, reached below /kratos on our own origin. Its shapes come from its own client's types. */
type Flows = { login: LoginFlow; registration: RegistrationFlow; verification: VerificationFlow }
export type FlowKind = keyof Flows
export type Flow<K extends FlowKind = FlowKind> = Flows[K]

export type Identity = { id: string; email: string; verified: boolean; recovered: boolean }

/** Who the session belongs to, as the identity service knows it; null without a session. */
export const identityQuery = () =>
  queryOptions<Identity | null>({
    queryKey: ['identity'],
    staleTime: 60_000,
    retry: false,
    queryFn: async ({ signal }) => {
      const answer = await ask('/kratos/sessions/whoami', { signal })
      if (answer.status === 401) return null
      const session = (await readJson(answer)) as Session
      const address = session.identity?.verifiable_addresses?.[0]
      const traits = session.identity?.traits as { email?: string } | undefined
      const metadata = session.identity?.metadata_public as { recovered?: boolean } | null | undefined
      return {
        id: session.identity?.id ?? '',
        email: address?.value ?? traits?.email ?? '',
        // An identity without addresses to verify counts as verified.
        verified: address?.verified ?? true,
        recovered: metadata?.recovered === true,
      }
    },
  })

/** Starts a browser flow, or fetches the one that an address names; an expired one is replaced by a new one. */
export async function openFlow<K extends FlowKind>(
  kind: K,
  id: string | undefined,
  query: Record<string, string | undefined> = {},
): Promise<Flow<K>> {
  if (id) {
    const answer = await ask(`/kratos/self-service/${kind}/flows?${new URLSearchParams({ id })}`)
    if (answer.ok) return (await answer.json()) as Flow<K>
    if (answer.status !== 404 && answer.status !== 410 && answer.status !== 403) throw await failure(answer)
  }
  const wanted = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return (await readJson(await ask(`/kratos/self-service/${kind}/browser?${new URLSearchParams(wanted)}`))) as Flow<K>
}

/** The text of an error that the identity service stored before it sent the browser to /error?id=. */
export async function readFlowError(id: string): Promise<{ message: string; reason?: string }> {
  const body = (await readJson(await ask(`/kratos/self-service/errors?${new URLSearchParams({ id })}`))) as {
    error?: { message?: string; reason?: string }
  }
  return { message: body.error?.message ?? '', reason: body.error?.reason }
}

export function csrfTokenOf(flow: Flow): string {
  const node = flow.ui.nodes.find(
    (candidate) => 'name' in candidate.attributes && candidate.attributes.name === 'csrf_token',
  )
  const value = node && 'value' in node.attributes ? node.attributes.value : ''
  return typeof value === 'string' ? value : ''
}

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(path, { ...init, headers: { accept: 'application/json' }, credentials: 'same-origin' })
  } catch (cause) {
    if (init.signal?.aborted) throw cause
    throw new ApiError({ status: 0, error: 'networkError', description: 'Network Error' }, { cause })
  }
}

async function readJson(answer: Response): Promise<unknown> {
  if (!answer.ok) throw await failure(answer)
  return answer.json()
}

/** Errors of the identity service have their own shape: {error: {id, code, message, reason}}. */
async function failure(answer: Response): Promise<ApiError> {
  const body = (await answer.json().catch(() => ({}))) as { error?: { id?: string; message?: string; reason?: string } }
  return new ApiError({
    status: answer.status,
    error: body.error?.id ?? 'UNKNOWN',
    description: body.error?.reason ?? body.error?.message ?? 'Unknown error',
    requestId: answer.headers.get('x-request-id') ?? undefined,
  })
}
