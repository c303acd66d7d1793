import type { Deployment } from '@crux/contract'
import { Square } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { Button } from '../../components/Button.tsx'
import { versionTitle } from '../../components/version-title.ts'

type Props = { teamSlug: string; deployment: Pick<Deployment, 'id' | 'project' | 'version' | 'status'> }

/**
 * Asks for confirmation and cancels the running release. It is busy until the release has ended, because the response comes earlier. Mount it
 * while a release is running, `{busy && <CancelButton ... />}`: the next release has not been cancelled.
 */
export function CancelButton({ teamSlug, deployment }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const params = { teamSlug, deploymentId: deployment.id }
  const cancel = useCall('deployments.cancel', { stale: [queryKey('deployments.get', { params })] })
  const question = {
    title: t('cancel.title', { name: versionTitle(deployment.project, deployment.version) }),
    text: t('cancel.text'),
    action: t('cancel.action'),
    danger: true,
  }
  return (
    <Button
      variant="bad"
      icon={Square}
      busy={cancel.isPending || cancel.isSuccess}
      disabledReason={cancel.denied}
      onClick={() => void cancel.ask(question, { params })}
    >
      {t('cancel.button')}
    </Button>
  )
}
