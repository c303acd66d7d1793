import type { ResponseOf } from '@crux/contract'
import { DoorOpen } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { Button } from '../../components/Button.tsx'
import { confirm } from '../../components/confirm.tsx'
import { toastSuccess } from '../../components/toasts.tsx'

type Props = {
  teamSlug: string
  deployment: ResponseOf<'deployments.get'>
  instanceId: string
  containerName: string
}

/** Offers to let the port gate hold the ports of an instance, so that they stay open while it is replaced. */
export function KeepPortsOpen({ teamSlug, deployment, instanceId, containerName }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const params = { teamSlug, deploymentId: deployment.id }
  const keep = useCall('deployments.update-instance', {
    stale: [
      queryKey('deployments.preview', { params }),
      queryKey('deployments.get', { params }),
      queryKey('deployments.final-configuration', { params }),
    ],
    onSuccess: () => toastSuccess(t('gate.done', { name: containerName })),
  })
  const own = deployment.instances.find((instance) => instance.id === instanceId)?.config.portGate
  const ask = async () => {
    const sure = await confirm({
      title: t('gate.title', { name: containerName }),
      text: t('gate.text'),
      action: t('gate.action'),
    })
    if (!sure) return
    keep.mutate({ params: { ...params, instanceId }, body: { config: { portGate: { ...own, enabled: true } } } })
  }
  return (
    <Button
      size="sm"
      icon={DoorOpen}
      className="mt-1.5"
      busy={keep.isPending}
      disabledReason={keep.denied ?? (deployment.mutable ? null : t('gate.fixed'))}
      onClick={() => void ask()}
    >
      {t('gate.button')}
    </Button>
  )
}
