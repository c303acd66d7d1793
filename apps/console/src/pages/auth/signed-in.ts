import { queryClient } from '../../api/client.ts'
import { live } from '../../api/live.ts'
import { safeReturn } from '../../api/session.ts'

/** The session is new: nothing of a former one may stay in memory, and the page that was asked for comes next. */
export function goOn(
  returnTo: string | undefined,
  navigate: (to: { href: string; replace: true }) => unknown,
): unknown {
  queryClient.clear()
  live.reset()
  return navigate({ href: safeReturn(returnTo), replace: true })
}
