export type FlowKind = 'login' | 'registration' | 'verification' | 'recovery' | 'settings'

type Init = { signal?: AbortSignal }

/**
 * Every call that the console makes to the identity service, below `basePath`, and the only place that knows their addresses. They carry
 * the names and send the requests of FrontendApi in @ory/kratos-client, which is too large to be loaded before a page is shown
 * (docs/adr/0005-calls-of-the-console-to-the-identity-service.md); the test beside this file compares the two.
 */
export function identityCalls(basePath: string) {
  const send = (method: string, path: string, { query, body, signal }: Init & { query?: Query; body?: unknown } = {}) =>
    fetch(`${basePath}${path}${toSearch(query)}`, {
      method,
      signal,
      credentials: 'same-origin',
      headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  return {
    /** toSession */
    toSession: (init: Init = {}) => send('GET', '/sessions/whoami', init),
    /** createBrowser{Kind}Flow */
    createBrowserFlow: (kind: FlowKind, query: Query = {}) => send('GET', `/self-service/${kind}/browser`, { query }),
    /** get{Kind}Flow */
    getFlow: (kind: FlowKind, id: string) => send('GET', `/self-service/${kind}/flows`, { query: { id } }),
    /** update{Kind}Flow */
    updateFlow: (kind: FlowKind, flow: string, body: Record<string, unknown>) =>
      send('POST', `/self-service/${kind}`, { query: { flow }, body }),
    /** getFlowError */
    getFlowError: (id: string) => send('GET', '/self-service/errors', { query: { id } }),
    /** listMySessions */
    listMySessions: (perPage: number, init: Init = {}) =>
      send('GET', '/sessions', { ...init, query: { per_page: String(perPage) } }),
    /** disableMySession */
    disableMySession: (id: string) => send('DELETE', `/sessions/${encodeURIComponent(id)}`),
    /** disableMyOtherSessions */
    disableMyOtherSessions: () => send('DELETE', '/sessions'),
    /** Of our own identity service alone; the client knows nothing like it. */
    listSecurityLog: (page: { size: number; token?: string }, init: Init = {}) =>
      send('GET', '/sessions/security-log', {
        ...init,
        query: { page_size: String(page.size), page_token: page.token },
      }),
  }
}

type Query = Record<string, string | undefined>

function toSearch(query: Query = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}
