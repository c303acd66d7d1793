import type { EndpointSpec } from './endpoint.ts'
import type { TokenScope } from './enums.ts'
import type { Permission } from './policy.ts'

const rank: Record<TokenScope, number> = { read: 0, deploy: 1, full: 2 }

/** Whether a token of scope `given` may call endpoints that need `needed`. The rights of its holder are checked separately. */
export const scopeCovers = (given: TokenScope, needed: TokenScope): boolean => rank[given] >= rank[needed]

/** The minimum scope of a token for an endpoint; undefined: only a session may call it (docs/decisions.md#tokens-and-their-scopes). */
export function scopeOfEndpoint(row: EndpointSpec): TokenScope | undefined {
  if (row.token === 'never') return undefined
  if (row.token === 'deployment-token') return 'deploy'
  return row.token ?? (row.method === 'GET' ? 'read' : 'full')
}

/** The minimum scope for a live channel or message that needs this permission. */
export function scopeOfPermission(permission: Permission): TokenScope {
  if (permission.endsWith('.read')) return 'read'
  return permission === 'deployments.start' ? 'deploy' : 'full'
}
