import { VersionIncrease as Body } from '@crux/contract'
import { zodResolver } from '@hookform/resolvers/zod'
import { useNavigate } from '@tanstack/react-router'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { toastSuccess } from '../components/toasts.tsx'
import { links } from '../routing/links.ts'
import { FormSheet } from './FormShell.tsx'
import { nextVersion } from './next-version.ts'
import { VersionNameFields } from './version-fields.tsx'

type Props = { teamSlug: string; projectId: string; version: { id: string; name: string }; onClose: () => void }

export function VersionIncrease({ teamSlug, projectId, version, onClose }: Props) {
  const { t } = useTranslation('versions')
  const navigate = useNavigate()
  const form = useForm({
    resolver: zodResolver(Body),
    defaultValues: { name: nextVersion(version.name), changelog: '' },
  })
  const increase = useCall('versions.increase', {
    stale: [queryKey('projects.get'), queryKey('versions.get'), queryKey('projects.list'), queryKey('dashboard.get')],
    onSuccess: (next) => {
      toastSuccess(t('created', { name: next.name }))
      onClose()
      return navigate(links.version(teamSlug, projectId, next.id))
    },
  })
  return (
    <FormSheet
      title={t('form.increaseTitle', { name: version.name })}
      description={t('form.increaseText', { name: version.name })}
      form={form}
      submitLabel={t('form.increase')}
      call={increase}
      onClose={onClose}
      onSubmit={(values) =>
        increase.mutateAsync({
          params: { teamSlug, projectId, versionId: version.id },
          body: { ...values, changelog: values.changelog || null },
        })
      }
    >
      <VersionNameFields form={form} />
    </FormSheet>
  )
}
