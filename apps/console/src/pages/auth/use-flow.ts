import { ApiError } from '@crux/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type Flow, type FlowKind, openFlow } from '../../api/identity.ts'
import { isStatus } from '../../errors/describe-error.ts'
import { flowError, getFlow } from './flow-errors.ts'

type Options<K extends FlowKind, V> = {
  kind: K
  id?: string
  query?: Record<string, string | undefined>
  /** Sends the values with this flow; a refusal that carries the flow is shown at the fields. */
  submit: (flow: Flow<K>, values: V) => Promise<unknown>
  onDone: (answer: unknown, values: V) => unknown
}

/**
 * A browser flow of the identity service as a form: opens it, sends it, keeps the flow that comes back, and when it has expired
 * meanwhile (10 minutes, or another tab signed in) sends once more with a new one.
 */
export function useFlow<K extends FlowKind, V>({ kind, id, query, submit, onDone }: Options<K, V>) {
  const cache = useQueryClient()
  const key = ['flow', kind, id, query]
  const opened = useQuery({
    queryKey: key,
    queryFn: () => openFlow(kind, id, query),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })

  const send = async (values: V): Promise<unknown> => {
    const flow = cache.getQueryData<Flow<K>>(key) ?? (await openFlow(kind, undefined, query))
    try {
      return await submit(flow, values)
    } catch (error) {
      if (!isExpired(error)) throw error
      const fresh = await openFlow(kind, undefined, query)
      cache.setQueryData(key, fresh)
      return await submit(fresh, values)
    }
  }
  const sent = useMutation<unknown, ApiError, V>({
    mutationFn: async (values) => {
      try {
        return keepFlow(await send(values))
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        const flow = getFlow<K>(error.value)
        if (!flow) throw error
        cache.setQueryData(key, flow)
        const wrong = flowError(flow)
        if (wrong) throw wrong
        // Login and registration by code answer 400 with the next step of the form.
        if (flow.state === 'sent_email') return flow
        throw error
      }
    },
    onSuccess: (answer, values) => onDone(answer, values),
  })
  // A 200 may carry the flow too, with the next state or with what was wrong.
  const keepFlow = (answer: unknown) => {
    const flow = getFlow<K>(answer)
    if (!flow) return answer
    cache.setQueryData(key, flow)
    const wrong = flowError(flow)
    if (wrong) throw wrong
    return answer
  }
  const arrival = useMemo(() => opened.data && flowError(opened.data), [opened.data])
  return {
    opened,
    flow: opened.data,
    send: sent.mutateAsync,
    pending: sent.isPending,
    /** The error of the last attempt; before the first, the error of the flow itself, such as a refusal of a provider. */
    error: sent.isIdle ? (arrival ?? null) : sent.error,
    alreadySignedIn: isSignedIn(opened.error) || isStatus(sent.error, 409),
  }
}

const isExpired = (error: unknown) =>
  isStatus(error, 410) || isStatus(error, 404) || (isStatus(error, 403) && !getFlow(error.value))
const isSignedIn = (error: unknown) => error instanceof ApiError && error.error === 'session_already_available'
