import type { ResponseOf } from '@crux/contract'
import { DoorOpen } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { Button } from '../../components/Button.tsx'

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
    done: t('gate.done', { name: containerName }),
  })
  const own = deployment.instances.find((instance) => instance.id === instanceId)?.config.portGate
  const ask = () => {
    const question = {
      title: t('gate.title', { name: containerName }),
      text: t('gate.text'),
      action: t('gate.action'),
    }
    const portGate = { ...own, enabled: true }
    void keep.ask(question, { params: { ...params, instanceId }, body: { config: { portGate } } })
  }
  return (
    <Button
      size="sm"
      icon={DoorOpen}
      className="mt-1.5"
      busy={keep.isPending}
      disabledReason={keep.denied ?? (deployment.mutable ? null : t('gate.fixed'))}
      onClick={ask}
    >
      {t('gate.button')}
    </Button>
  )
}
