import { queryClient } from '../../api/client.ts'
import type { Flow } from '../../api/identity.ts'
import { reauthenticationAddress } from '../../api/reauthentication.ts'
import { valueAt } from '../../api/unknown-data.ts'
import { useFlow } from './use-flow.ts'

type Options<V> = {
  /** The flow in the address, for a browser that returns from another site. */
  id?: string
  /** The return address if the user has to sign in again first. */
  returnTo: string
  submit: (flow: Flow<'settings'>, values: V) => Promise<unknown>
  onDone: (answer: unknown, values: V) => unknown
}

/** The settings flow as a form. A session that is too old for the change leads to signing in again, and back. */
export function useSettingsFlow<V>({ id, returnTo, submit, onDone }: Options<V>) {
  return useFlow<'settings', V>({
    kind: 'settings',
    id,
    submit: async (flow, values) => {
      try {
        return await submit(flow, values)
      } catch (error) {
        if (!isTooOld(error)) throw error
        location.assign(reauthenticationAddress(returnTo))
        // The page is being left.
        return new Promise(() => {})
      }
    },
    onDone: async (answer, values) => {
      // Other pages show the name and the address, so they are refetched. The flow came with the response: a new one would lose its content.
      void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'flow' })
      await onDone(answer, values)
    },
  })
}

/** The relay keeps the identity service's words in `value`; a direct answer has its id as the code. */
function isTooOld(error: unknown): boolean {
  return [valueAt(error, 'error'), valueAt(error, 'value', 'error', 'id')].includes('session_refresh_required')
}
