import type { Deployment } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { confirm } from '../../components/confirm.tsx'

type Named = Pick<Deployment, 'id' | 'project' | 'version' | 'status'>

/** Asks, and then cancels the release under way. It is cancelled when its end arrives, not when the request is answered. */
export function useCancel(teamSlug: string, deployment: Named) {
  const { t } = useTranslation(['deployments', 'common'])
  const params = { teamSlug, deploymentId: deployment.id }
  const cancel = useCall('deployments.cancel', { stale: [queryKey('deployments.get', { params })] })
  const ask = async () => {
    const sure = await confirm({
      title: t('cancel.title', { name: `${deployment.project.name} ${deployment.version.name}` }),
      text: t('cancel.text'),
      action: t('cancel.action'),
      danger: true,
    })
    if (sure) cancel.mutate({ params })
  }
  const cancelling = cancel.isPending || (cancel.isSuccess && deployment.status === 'in-progress')
  return { ask, cancelling, cancelDenied: cancel.denied }
}
