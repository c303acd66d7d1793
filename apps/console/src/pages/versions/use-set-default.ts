import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { confirm } from '../../components/confirm.tsx'
import { toastSuccess } from '../../components/toasts.tsx'

/** Asks, then makes a version the default of its project. */
export function useSetDefault(teamSlug: string, projectId: string) {
  const { t } = useTranslation('projects')
  const change = useCall('versions.default', { stale: [queryKey('projects.get'), queryKey('versions.get')] })
  const ask = async ({ id: versionId, name }: { id: string; name: string }) => {
    const yes = await confirm({
      title: t('version.setDefaultTitle', { name }),
      text: t('version.setDefaultText'),
      action: t('version.setDefault'),
    })
    if (yes)
      change.mutate(
        { params: { teamSlug, projectId, versionId } },
        { onSuccess: () => toastSuccess(t('version.defaultSet', { name })) },
      )
  }
  return { ask, denied: change.denied }
}
