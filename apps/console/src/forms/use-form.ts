import { zodResolver } from '@hookform/resolvers/zod'
import { type LinkProps, useNavigate } from '@tanstack/react-router'
import { type DefaultValues, type FieldValues, useForm } from 'react-hook-form'
import type { z } from 'zod'
import { toastSuccess } from '../components/toasts.tsx'
import { replaceFormEntry } from '../routing/use-anchor.ts'

/** A form whose values a schema checks. */
export const useZodForm = <In extends FieldValues, Out>(
  schema: z.ZodType<Out, In>,
  defaultValues: NoInfer<DefaultValues<In>>,
) => useForm<In, unknown, Out>({ resolver: zodResolver(schema), defaultValues })

/** The two ends of a form: it leads to what it created, or is closed over what it updated. */
export function useFormEnd(onClose: () => void) {
  const navigate = useNavigate()
  return {
    created: (link: LinkProps, text: string) => {
      toastSuccess(text)
      return navigate({ ...link, ...replaceFormEntry() })
    },
    updated: (text: string) => {
      toastSuccess(text)
      onClose()
    },
  }
}
