import { identityQuery, isWhole } from './identity.ts'
import { queryClient } from './query.ts'

/** Where to sign in again as the same person. */
export function reauthenticationAddress(returnTo: string): string {
  const identity = queryClient.getQueryData(identityQuery().queryKey)
  const email = isWhole(identity) ? identity.email : 'true'
  return `/auth/login?${new URLSearchParams({ refresh: email, return_to: returnTo })}`
}
