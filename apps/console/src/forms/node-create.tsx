import { zodResolver } from '@hookform/resolvers/zod'
import { useNavigate } from '@tanstack/react-router'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { links } from '../routing/links.ts'
import { replaceFormEntry } from '../routing/use-anchor.ts'
import { FormSheet } from './FormShell.tsx'
import { NodeFields, type NodeInput, type NodeOutput, nodeSchema } from './node-fields.tsx'

/** After it the person is on the node's page, where the set-up waits. */
export function NodeCreate({ teamSlug, onClose }: { teamSlug: string; onClose: () => void }) {
  const { t } = useTranslation('nodes')
  const navigate = useNavigate()
  const form = useForm<NodeInput, unknown, NodeOutput>({
    resolver: zodResolver(nodeSchema),
    defaultValues: { name: '', description: '', icon: null },
  })
  const create = useCall('nodes.create', { stale: [queryKey('nodes.list'), queryKey('dashboard.get')] })
  return (
    <FormSheet
      form={form}
      title={t('create.title')}
      description={t('create.text')}
      submitLabel={t('create.submit')}
      call={create}
      onClose={onClose}
      onSubmit={async (body) => {
        const node = await create.mutateAsync({ params: { teamSlug }, body })
        await navigate({ ...links.node(teamSlug, node.id, { anchor: 'edit' }), ...replaceFormEntry() })
      }}
    >
      <NodeFields form={form} />
    </FormSheet>
  )
}
