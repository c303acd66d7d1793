import type { Operation } from '@crux/contract'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import { deletePrefixData, getPrefixData } from './actions.ts'

export function prefixDataRoutes(app: App): Handlers<Extract<Operation, `prefix-data.${string}`>> {
  return {
    'prefix-data.get': ({ caller, params }) => getPrefixData(app, caller, params),
    'prefix-data.delete': async ({ caller, params, body, audited }) => {
      const result = await deletePrefixData(app, caller, params, body)
      audited(toAuditData(params, result))
      return result
    },
  }
}

/** What has been deleted, and what stays although it was to be deleted. */
function toAuditData(
  { prefix }: { prefix: string },
  { claims, namespace }: Awaited<ReturnType<typeof deletePrefixData>>,
): Record<string, unknown> {
  const list = (isKept: boolean) => claims.filter(({ state }) => (state === 'kept') === isKept).map(({ name }) => name)
  return {
    prefix,
    deletedClaims: list(false),
    keptClaims: list(true),
    ...(namespace && { [namespace.state === 'kept' ? 'keptNamespace' : 'deletedNamespace']: prefix }),
  }
}
