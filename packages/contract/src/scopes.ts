import type { EndpointSpec } from './endpoint.ts'
import type { TokenScope } from './enums.ts'
import type { Permission } from './policy.ts'

const rank: Record<TokenScope, number> = { read: 0, deploy: 1, full: 2 }

/** Whether a token of scope `given` may do what needs `needed`; what its holder may is another question. */
export const scopeCovers = (given: TokenScope, needed: TokenScope): boolean => rank[given] >= rank[needed]

/** The least scope of a token that may call an endpoint; undefined: only a session may (decision 17). */
export function scopeOfEndpoint(row: EndpointSpec): TokenScope | undefined {
  if (row.token === 'never') return undefined
  if (row.token === 'deployment-token') return 'deploy'
  return row.token ?? (row.method === 'GET' ? 'read' : 'full')
}

/** The least scope for a live channel or message that needs this permission. */
export function scopeOfPermission(permission: Permission): TokenScope {
  if (permission.endsWith('.read')) return 'read'
  return permission === 'deployments.start' ? 'deploy' : 'full'
}
