import type { ResponseOf } from '@crux/contract'
import { zodResolver } from '@hookform/resolvers/zod'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { toastSuccess } from '../components/toasts.tsx'
import { FormPanel, FormSheet } from './FormShell.tsx'
import { NodeFields, type NodeInput, type NodeOutput, nodeSchema } from './node-fields.tsx'

type Props = { teamSlug: string; node: ResponseOf<'nodes.get'>; onClose: () => void; shape: 'sheet' | 'panel' }

/** In a sheet over a node that works; as a panel beside the set-up of a new one. */
export function NodeEdit({ teamSlug, node, onClose, shape }: Props) {
  const { t } = useTranslation('nodes')
  const form = useForm<NodeInput, unknown, NodeOutput>({
    resolver: zodResolver(nodeSchema),
    defaultValues: { name: node.name, description: node.description ?? '', icon: node.icon ?? null },
  })
  const update = useCall('nodes.update', {
    stale: [queryKey('nodes.list'), queryKey('nodes.get', { params: { teamSlug, nodeId: node.id } })],
  })
  const shell = {
    form,
    submitLabel: t('edit.submit'),
    onSubmit: async (body: NodeOutput) => {
      await update.mutateAsync({ params: { teamSlug, nodeId: node.id }, body })
      toastSuccess(t('edit.done', { name: body.name }))
      onClose()
    },
  }
  if (shape === 'panel')
    return (
      <FormPanel {...shell} guard loading={update.isPending} error={update.error} disabledReason={update.denied}>
        <NodeFields form={form} />
      </FormPanel>
    )
  return (
    <FormSheet {...shell} call={update} title={t('edit.title', { name: node.name })} onClose={onClose}>
      <NodeFields form={form} />
    </FormSheet>
  )
}
