import { queryClient } from '../../api/client.ts'
import { live } from '../../api/live.ts'
import { safeReturn } from '../../api/session.ts'

/** Handles a new session: nothing of a previous one may stay in memory, and the requested page opens. */
export function continueTo(
  returnTo: string | undefined,
  navigate: (to: { href: string; replace: true }) => unknown,
): unknown {
  queryClient.clear()
  live.reset()
  return navigate({ href: safeReturn(returnTo), replace: true })
}
