import { DeploymentCopy as Body, type Deployment } from '@crux/contract'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { versionTitle } from '../components/version-title.ts'
import { links } from '../routing/links.ts'
import { copiedPrefix } from './copied-prefix.ts'
import { FormSheet } from './FormShell.tsx'
import { TextAreaField, TextField } from './fields.tsx'
import { NodeField } from './node-field.tsx'
import { useZodForm } from './use-form.ts'

type Props = { teamSlug: string; deployment: Deployment; onClose: () => void }

/** Proposes another prefix, because a second deployment with the same node and prefix would replace the first. */
export function DeploymentCopy({ teamSlug, deployment, onClose }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const navigate = useNavigate()
  const form = useZodForm(Body, {
    nodeId: deployment.node.id,
    prefix: copiedPrefix(deployment.prefix),
    note: deployment.note ?? '',
  })
  const copy = useCall('deployments.copy', { stale: [queryKey('deployments.list'), queryKey('versions.get')] })
  return (
    <FormSheet
      form={form}
      title={t('copy.title', { version: versionTitle(deployment.project, deployment.version) })}
      description={t('copy.text')}
      submitLabel={t('copy.submit')}
      call={copy}
      onClose={onClose}
      onSubmit={async (body) => {
        const made = await copy.mutateAsync({ params: { teamSlug, deploymentId: deployment.id }, body })
        await navigate(links.deployment(teamSlug, made.id))
      }}
    >
      <NodeField form={form} name="nodeId" teamSlug={teamSlug} />
      <TextField form={form} name="prefix" label={t('create.prefix')} help={t('create.prefixHelp')} mono />
      <TextAreaField form={form} name="note" label={t('create.note')} optional />
    </FormSheet>
  )
}
