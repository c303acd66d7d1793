import { NodeWrite } from '@crux/contract'
import type { UseFormReturn } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import type { z } from 'zod'
import { IconField, TextAreaField, TextField } from './fields.tsx'

export const nodeSchema = NodeWrite
export type NodeInput = z.input<typeof NodeWrite>
export type NodeOutput = z.output<typeof NodeWrite>

/** The fields of a node that users edit; the installation steps set the connection. */
export function NodeFields({ form }: { form: UseFormReturn<NodeInput, unknown, NodeOutput> }) {
  const { t } = useTranslation('nodes')
  return (
    <>
      <TextField form={form} name="name" label={t('form.name')} help={t('form.nameHelp')} autoComplete="off" />
      <TextAreaField form={form} name="description" label={t('form.description')} optional />
      <IconField form={form} name="icon" label={t('form.icon')} />
    </>
  )
}
