import { type ApiError, createClient, type Input, queryKey } from '@crux/client'
import type { Operation, ResponseOf } from '@crux/contract'
import { QueryCache, QueryClient, type QueryKey, queryOptions } from '@tanstack/react-query'
import { mayRetry } from '../errors/describe-error.ts'
import { sessionLost } from './session.ts'

/** Longer than the server's own timeout for agents, registries and storages. */
const timeoutMs = { read: 30_000, change: 90_000 }

type Listener = (operation: Operation) => void
const listeners = new Set<Listener>()

/** Tells of every call that was answered without an error. @returns how to stop */
export function onAnswer(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const client = createClient({
  baseUrl: '',
  timeoutMs,
  onAnswer: (operation) => {
    for (const listener of listeners) listener(operation)
  },
})

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: (error) => sessionLost(error) }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => count < 2 && mayRetry(error),
      refetchOnWindowFocus: true,
      // The browser's "offline" only concerns the internet; Crux may run on this machine or in the local network. A failed call is reported.
      networkMode: 'always',
      refetchOnReconnect: true,
    },
    mutations: { networkMode: 'always' },
  },
})

type Rest<O extends Operation> = Record<string, never> extends Input<O> ? [input?: Input<O>] : [input: Input<O>]

/** Query options of an operation, for useQuery and for loaders: `useQuery(apiQuery('registries.list', { params: { teamSlug } }))`. */
export const apiQuery = <O extends Operation>(operation: O, ...[input]: Rest<O>) =>
  queryOptions<ResponseOf<O>, ApiError>({
    queryKey: queryKey(operation, input),
    // The tuple above has already proved that the operation may be called with this input.
    queryFn: ({ signal }) => client.call<Operation>(operation, input as never, { signal }) as Promise<ResponseOf<O>>,
  })

/**
 * Changes the data of a query as a live message says. A response under way may have been read before the change, so that it is requested again.
 */
export function applyLiveUpdate<Data>(key: QueryKey, change: (data: Data) => Data): void {
  const query = { queryKey: key, exact: true }
  queryClient.setQueryData<Data>(key, (data) => data && change(data))
  if (queryClient.isFetching(query)) void queryClient.invalidateQueries(query)
}
