import type { Input } from '@crux/client'
import type { Operation, ResponseOf } from '@crux/contract'
import { type LinkProps, useNavigate } from '@tanstack/react-router'
import type { Removal } from '../components/DetailsHead.tsx'
import type { Question } from '../components/question.ts'
import { toastWarning } from '../components/toasts.tsx'
import { useCall } from './client.ts'

type Options<O extends Operation> = {
  input: Input<O>
  stale: readonly (readonly unknown[])[]
  question: Omit<Question, 'danger' | 'info'>
  /** What is said afterwards. */
  done: string
  /** What the user has to know although it was deleted. */
  getWarning?: (result: ResponseOf<O>) => string | null
  /** Where the page of what is gone leads to. */
  list: LinkProps
}

/** Deletes the subject of a page: asks first, confirms the deletion, and goes to the list. */
export function useRemoval<O extends Operation>(operation: O, options: Options<O>): Removal {
  const { input, stale, question, done, getWarning, list } = options
  const navigate = useNavigate()
  const remove = useCall(operation, {
    stale,
    done,
    onSuccess: (result) => {
      const warning = getWarning?.(result)
      if (warning) toastWarning(warning)
      return navigate(list)
    },
  })
  return {
    ask: () => remove.ask({ ...question, danger: true }, input),
    busy: remove.isPending,
    denied: remove.denied,
  }
}
