import type { ClaimKey, PrefixData } from '@crux/contract'

/** The data of a prefix that is to be deleted with its containers. */
export interface ChosenData {
  claims: ClaimKey[]
  namespace: boolean
}

export const noData: ChosenData = { claims: [], namespace: false }

export const isNoData = ({ claims, namespace }: ChosenData): boolean => claims.length === 0 && !namespace

/** Whether anything stays that could be deleted. */
export const hasData = ({ claims, namespace }: PrefixData): boolean =>
  claims.length > 0 || (namespace.exists && !namespace.reason)

/** Whether the namespace would stay because of a claim that was not chosen. */
export const staysWithClaims = ({ claims }: PrefixData, chosen: ChosenData): boolean =>
  claims.some(({ uid }) => !chosen.claims.some((claim) => claim.uid === uid))

/** Without the namespace, when a claim in it is kept after all. */
export function toggleClaim(data: PrefixData, chosen: ChosenData, { name, uid }: ClaimKey): ChosenData {
  const others = chosen.claims.filter((claim) => claim.uid !== uid)
  const claims = others.length < chosen.claims.length ? others : [...others, { name, uid }]
  const next = { ...chosen, claims }
  return { ...next, namespace: next.namespace && !staysWithClaims(data, next) }
}
