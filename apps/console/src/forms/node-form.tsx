import { NodeCluster, NodeWrite, type ResponseOf } from '@crux/contract'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { queryKey, useCall } from '../api/client.ts'
import { links } from '../routing/links.ts'
import { replaceFormEntry } from '../routing/use-anchor.ts'
import { FormPanel, FormSheet } from './FormShell.tsx'
import { IconField, TextAreaField, TextField } from './fields.tsx'
import { NameList, nameListText } from './name-list.ts'
import { useFormEnd, useZodForm } from './use-form.ts'

type Props = { teamSlug: string; node?: ResponseOf<'nodes.get'>; onClose: () => void; shape?: 'sheet' | 'panel' }

const emptyAsNull = z.string().transform((text) => text.trim() || null)
const emptyAsUndefined = z.string().transform((text) => (text.trim() === '' ? undefined : Number(text)))
/** The settings of a cluster as text fields; those of a Docker node have none. */
const NodeValues = NodeWrite.extend({
  cluster: z
    .object({
      ingressClass: emptyAsNull.pipe(NodeCluster.shape.ingressClass),
      certificateIssuer: emptyAsNull.pipe(NodeCluster.shape.certificateIssuer),
      storageClasses: NameList.pipe(NodeCluster.shape.storageClasses),
      allowForeignNamespaces: NameList.pipe(NodeCluster.shape.allowForeignNamespaces),
      drainSeconds: emptyAsUndefined.pipe(NodeCluster.shape.drainSeconds),
    })
    .optional(),
})

/**
 * Creates a node, and leads to its page, where the set-up waits; or updates the given one: in a sheet over a node that works, in a panel
 * beside the set-up of a new one. The installation steps set its connection.
 */
export function NodeForm({ teamSlug, node, onClose, shape = 'sheet' }: Props) {
  const { t } = useTranslation('nodes')
  const navigate = useNavigate()
  const { updated } = useFormEnd(onClose)
  const isCluster = node?.type === 'k8s'
  const form = useZodForm(NodeValues, {
    name: node?.name ?? '',
    description: node?.description ?? '',
    icon: node?.icon ?? null,
    ...(isCluster && {
      cluster: {
        ingressClass: node.cluster?.ingressClass ?? '',
        certificateIssuer: node.cluster?.certificateIssuer ?? '',
        storageClasses: nameListText(node.cluster?.storageClasses ?? []),
        allowForeignNamespaces: nameListText(node.cluster?.allowForeignNamespaces ?? []),
        drainSeconds: String(node.cluster?.drainSeconds ?? ''),
      },
    }),
  })
  const create = useCall('nodes.create', {
    stale: [queryKey('nodes.list'), queryKey('dashboard.get')],
    onSuccess: ({ id }) => navigate({ ...links.node(teamSlug, id, { anchor: 'edit' }), ...replaceFormEntry() }),
  })
  const update = useCall('nodes.update', {
    stale: [queryKey('nodes.list'), queryKey('nodes.get')],
    onSuccess: (_, { body: { name } }) => updated(t('edit.done', { name })),
  })
  const onSubmit = (body: z.output<typeof NodeValues>) =>
    node
      ? update.mutateAsync({ params: { teamSlug, nodeId: node.id }, body })
      : create.mutateAsync({ params: { teamSlug }, body })
  const shell = { form, onSubmit, submitLabel: t(node ? 'edit.submit' : 'create.submit') }
  const fields = (
    <>
      <TextField form={form} name="name" label={t('form.name')} help={t('form.nameHelp')} autoComplete="off" />
      <TextAreaField form={form} name="description" label={t('form.description')} optional />
      <IconField form={form} name="icon" label={t('form.icon')} />
      {isCluster && (
        <fieldset className="grid min-w-0 gap-4">
          <legend className="mb-3 font-strong">{t('cluster.title')}</legend>
          <TextField
            form={form}
            name="cluster.ingressClass"
            label={t('cluster.ingressClass')}
            help={t('cluster.ingressClassHelp')}
            placeholder="nginx"
            optional
            mono
          />
          <TextField
            form={form}
            name="cluster.certificateIssuer"
            label={t('cluster.issuer')}
            help={t('cluster.issuerHelp')}
            placeholder="letsencrypt"
            optional
            mono
          />
          <TextField
            form={form}
            name="cluster.storageClasses"
            label={t('cluster.storageClasses')}
            help={t('cluster.storageClassesHelp')}
            optional
            mono
          />
          <TextField
            form={form}
            name="cluster.allowForeignNamespaces"
            label={t('cluster.foreign')}
            help={t('cluster.foreignHelp')}
            optional
            mono
          />
          <TextField
            form={form}
            name="cluster.drainSeconds"
            label={t('cluster.drain')}
            help={t('cluster.drainHelp')}
            inputMode="numeric"
            placeholder="2"
            optional
            mono
          />
        </fieldset>
      )}
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
