import type { Deployment } from '@crux/contract'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { Button } from '../../components/Button.tsx'
import { Checkbox } from '../../components/Checkbox.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { versionTitle } from '../../components/version-title.ts'

type Props = { teamSlug: string; deployment: Deployment; onClose: () => void; onDeleted?: () => void }

/** The dialog asks whether to delete the containers too; a later deployment to the same target takes over containers that stay. */
export function DeleteDeployment({ teamSlug, deployment, onClose, onDeleted }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const [containers, setContainers] = useState(false)
  const mayRun = deployment.status !== 'preparing' && deployment.status !== 'obsolete'
  const name = versionTitle(deployment.project, deployment.version)
  const remove = useCall('deployments.delete', {
    stale: [
      queryKey('deployments.list'),
      queryKey('nodes.deployments'),
      queryKey('versions.get'),
      queryKey('nodes.get'),
    ],
    done: t('delete.done', { name }),
    onSuccess: () => {
      onClose()
      onDeleted?.()
    },
  })
  const submit = () =>
    remove.mutate({
      params: { teamSlug, deploymentId: deployment.id },
      query: { containers: mayRun && containers ? 'true' : 'false' },
    })
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('delete.title', { name, node: deployment.node.name })}
      description={t('delete.text')}
      initialFocus={(content) => content.querySelector('[data-confirm]')}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button
            data-confirm
            variant="bad-main"
            busy={remove.isPending}
            disabledReason={remove.denied}
            onClick={submit}
          >
            {containers && mayRun ? t('delete.actionBoth') : t('delete.action')}
          </Button>
        </>
      }
    >
      {mayRun ? (
        <label htmlFor="delete-containers" className="flex items-start gap-2">
          <span className="pt-0.5">
            <Checkbox id="delete-containers" checked={containers} onChange={setContainers} />
          </span>
          <span>
            {t('delete.containers', { prefix: deployment.prefix, node: deployment.node.name })}
            <span className="block text-small text-ink-2">
              {containers ? t('delete.lost', { node: deployment.node.name }) : t('delete.stay')}
            </span>
          </span>
        </label>
      ) : (
        <p className="text-ink-2">{t('delete.nothingRuns')}</p>
      )}
    </Dialog>
  )
}
