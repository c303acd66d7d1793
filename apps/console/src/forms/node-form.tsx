import { NodeWrite, type ResponseOf } from '@crux/contract'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { z } from 'zod'
import { queryKey, useCall } from '../api/client.ts'
import { links } from '../routing/links.ts'
import { replaceFormEntry } from '../routing/use-anchor.ts'
import { FormPanel, FormSheet } from './FormShell.tsx'
import { IconField, TextAreaField, TextField } from './fields.tsx'
import { useFormEnd, useZodForm } from './use-form.ts'

type Props = { teamSlug: string; node?: ResponseOf<'nodes.get'>; onClose: () => void; shape?: 'sheet' | 'panel' }

/**
 * Creates a node, and leads to its page, where the set-up waits; or updates the given one: in a sheet over a node that works, in a panel
 * beside the set-up of a new one. The installation steps set its connection.
 */
export function NodeForm({ teamSlug, node, onClose, shape = 'sheet' }: Props) {
  const { t } = useTranslation('nodes')
  const navigate = useNavigate()
  const { updated } = useFormEnd(onClose)
  const form = useZodForm(NodeWrite, {
    name: node?.name ?? '',
    description: node?.description ?? '',
    icon: node?.icon ?? null,
  })
  const create = useCall('nodes.create', {
    stale: [queryKey('nodes.list'), queryKey('dashboard.get')],
    onSuccess: ({ id }) => navigate({ ...links.node(teamSlug, id, { anchor: 'edit' }), ...replaceFormEntry() }),
  })
  const update = useCall('nodes.update', {
    stale: [queryKey('nodes.list'), queryKey('nodes.get')],
    onSuccess: (_, { body: { name } }) => updated(t('edit.done', { name })),
  })
  const onSubmit = (body: z.output<typeof NodeWrite>) =>
    node
      ? update.mutateAsync({ params: { teamSlug, nodeId: node.id }, body })
      : create.mutateAsync({ params: { teamSlug }, body })
  const shell = { form, onSubmit, submitLabel: t(node ? 'edit.submit' : 'create.submit') }
  const fields = (
    <>
      <TextField form={form} name="name" label={t('form.name')} help={t('form.nameHelp')} autoComplete="off" />
      <TextAreaField form={form} name="description" label={t('form.description')} optional />
      <IconField form={form} name="icon" label={t('form.icon')} />
    </>
  )
  if (shape === 'panel')
    return (
      <FormPanel {...shell} guard loading={update.isPending} error={update.error} disabledReason={update.denied}>
        {fields}
      </FormPanel>
    )
  const sheet = node
    ? { title: t('edit.title', { name: node.name }), call: update }
    : { title: t('create.title'), description: t('create.text'), call: create }
  return (
    <FormSheet {...shell} {...sheet} onClose={onClose}>
      {fields}
    </FormSheet>
  )
}
