import { queryClient } from '../../api/client.ts'
import { identityQuery, isSignedInFully } from '../../api/identity.ts'
import { links } from '../../routing/links.ts'
import { continueTo } from './signed-in.ts'
import { getVerificationFlow } from './verification-flow.ts'

type Navigate = (to: object) => unknown

/** Where addresses must be confirmed, the code is waiting in the mail; elsewhere the session is there already. */
export async function afterSignUp(
  answer: unknown,
  { email, returnTo }: { email: string | undefined; returnTo: string | undefined },
  navigate: Navigate,
): Promise<unknown> {
  queryClient.removeQueries({ queryKey: ['identity'] })
  const identity = await queryClient.fetchQuery(identityQuery()).catch(() => null)
  return isSignedInFully(identity) && identity.verified
    ? continueTo(returnTo, navigate)
    : navigate(links.verify(email, getVerificationFlow(answer)))
}
