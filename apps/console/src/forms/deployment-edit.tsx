import { DeploymentUpdate, type ResponseOf } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { useDeniedPart } from '../api/me.ts'
import { versionTitle } from '../components/version-title.ts'
import { FormSheet } from './FormShell.tsx'
import { SwitchField, TextAreaField, TextField } from './fields.tsx'
import { useFormEnd, useZodForm } from './use-form.ts'

type Props = { teamSlug: string; deployment: ResponseOf<'deployments.get'>; onClose: () => void }
const schema = DeploymentUpdate.omit({ configBundles: true })

export function DeploymentEdit({ teamSlug, deployment, onClose }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const protectDenied = useDeniedPart('deployments.protect')
  const { updated } = useFormEnd(onClose)
  const form = useZodForm(schema, {
    prefix: deployment.prefix,
    protected: deployment.protected,
    note: deployment.note ?? '',
  })
  const params = { teamSlug, deploymentId: deployment.id }
  const update = useCall('deployments.update', {
    stale: [queryKey('deployments.list'), queryKey('deployments.get', { params })],
    onSuccess: () => updated(t('edit.done')),
  })
  return (
    <FormSheet
      form={form}
      title={t('edit.title', { version: versionTitle(deployment.project, deployment.version) })}
      call={update}
      onClose={onClose}
      onSubmit={(values) => {
        // The list of bundles is complete on the wire: what is there is sent back.
        const configBundles = deployment.configBundles.map((bundle) => bundle.id)
        return update.mutateAsync({ params, body: { ...values, configBundles } })
      }}
    >
      <TextField
        form={form}
        name="prefix"
        label={t('create.prefix')}
        help={(deployment.protected && protectDenied) || t('create.prefixHelp')}
        readOnly={deployment.protected && protectDenied !== null}
        mono
      />
      <SwitchField
        form={form}
        name="protected"
        label={t('create.protected')}
        help={protectDenied ?? t('create.protectedHelp')}
        disabled={protectDenied !== null}
      />
      <TextAreaField form={form} name="note" label={t('create.note')} optional />
    </FormSheet>
  )
}
