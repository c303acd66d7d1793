import type { ApiError, Input } from '@crux/client'
import type { Operation, ResponseOf } from '@crux/contract'
import { type QueryKey, useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { confirm } from '../components/confirm.tsx'
import type { Question } from '../components/question.ts'
import { toastError, toastSuccess } from '../components/toasts.tsx'
import { useDenied } from './me.ts'
import { client, queryClient } from './query.ts'
import { sessionLost } from './session.ts'

export { queryKey } from '@crux/client'
export { apiQuery, applyLiveUpdate, client, queryClient } from './query.ts'

type CallOptions<O extends Operation> = {
  /** Keys of queries that the change makes stale; those on the page are refetched. */
  stale?: readonly (readonly unknown[])[]
  /** What is said afterwards. */
  done?: string
  onSuccess?: (result: ResponseOf<O>, input: Input<O>) => unknown
  /** False if only the caller shows the error. */
  toast?: boolean | ((error: ApiError) => boolean)
}

/**
 * A change: `const remove = useCall('registries.delete', {...}); remove.mutate({ params })`. Failures show one toast. Controls that lead
 * to it are disabled with the reason `remove.denied`, which is null for users with the right. `remove.ask(question, { params })` asks first.
 */
export function useCall<O extends Operation>(operation: O, options: CallOptions<O> = {}) {
  const denied = useDenied(operation)
  // A second click before the button is disabled must not send the call again.
  const underWay = useRef(new Map<string, Promise<ResponseOf<O>>>())
  const call = useMutation<ResponseOf<O>, ApiError, Input<O>>({
    mutationFn: (input) => {
      const key = JSON.stringify(input) ?? ''
      const sent =
        underWay.current.get(key) ??
        (client.call<Operation>(operation, input as never) as Promise<ResponseOf<O>>).finally(() =>
          underWay.current.delete(key),
        )
      underWay.current.set(key, sent)
      return sent
    },
    onSuccess: async (result, input) => {
      for (const key of options.stale ?? []) void queryClient.invalidateQueries({ queryKey: key as QueryKey })
      if (options.done) toastSuccess(options.done)
      await options.onSuccess?.(result, input)
    },
    onError: (error) => {
      if (sessionLost(error)) return
      const wanted = typeof options.toast === 'function' ? options.toast(error) : (options.toast ?? true)
      if (wanted) toastError(error)
    },
  })
  const ask = async (question: Question, input: Input<O>): Promise<void> => {
    if (await confirm(question)) call.mutate(input)
  }
  return { ...call, ask, denied }
}
