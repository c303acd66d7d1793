import { type ApiError, createClient, type Input, queryKey } from '@crux/client'
import type { Operation, Result } from '@crux/contract'
import { QueryCache, QueryClient, type QueryKey, queryOptions, useMutation } from '@tanstack/react-query'
import { toastError } from '../components/toasts.tsx'
import { mayRetry } from './errors.ts'
import { sessionLost } from './session.ts'

export const client = createClient({ baseUrl: '' })

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: (error) => sessionLost(error) }),
  defaultOptions: {
    queries: { staleTime: 5_000, retry: (count, error) => count < 2 && mayRetry(error), refetchOnWindowFocus: true },
  },
})

type Rest<O extends Operation> = Record<string, never> extends Input<O> ? [input?: Input<O>] : [input: Input<O>]

/** Query options of an operation, for useQuery and for loaders: `useQuery(apiQuery('registries.list', { params: { teamSlug } }))`. */
export const apiQuery = <O extends Operation>(operation: O, ...[input]: Rest<O>) =>
  queryOptions<Result<O>, ApiError>({
    queryKey: queryKey(operation, input),
    // The tuple above has already proved that the operation may be called with this input.
    queryFn: ({ signal }) => client.call<Operation>(operation, input as never, { signal }) as Promise<Result<O>>,
  })

type CallOptions<O extends Operation> = {
  /** Keys of queries that the change makes stale; those on the page are read again. */
  stale?: readonly (readonly unknown[])[]
  onSuccess?: (result: Result<O>, input: Input<O>) => unknown
  /** False where the caller says the error itself and nothing else may. */
  toast?: boolean | ((error: ApiError) => boolean)
}

/** A change: `const remove = useCall('registries.delete', {...}); remove.mutate({ params })`. Failures raise one toast. */
export function useCall<O extends Operation>(operation: O, options: CallOptions<O> = {}) {
  return useMutation<Result<O>, ApiError, Input<O>>({
    mutationFn: (input) => client.call<Operation>(operation, input as never) as Promise<Result<O>>,
    onSuccess: async (result, input) => {
      for (const key of options.stale ?? []) void queryClient.invalidateQueries({ queryKey: key as QueryKey })
      await options.onSuccess?.(result, input)
    },
    onError: (error) => {
      if (sessionLost(error)) return
      const wanted = typeof options.toast === 'function' ? options.toast(error) : (options.toast ?? true)
      if (wanted) toastError(error)
    },
  })
}

export { queryKey }
