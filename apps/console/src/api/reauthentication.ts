import { identityQuery, isSignedInFully } from './identity.ts'
import { queryClient } from './query.ts'

/** Where to sign in again as the same user. */
export function reauthenticationAddress(returnTo: string): string {
  const identity = queryClient.getQueryData(identityQuery().queryKey)
  const email = isSignedInFully(identity) ? identity.email : 'true'
  return `/auth/login?${new URLSearchParams({ refresh: email, return_to: returnTo })}`
}
