import type { ResponseOf } from '@crux/contract'
import { deploymentAction } from '@crux/rules'
import { useNavigate } from '@tanstack/react-router'
import { Rocket } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useDenied } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'

const DeploymentCreate = lazyComponent(async () => (await import('../../forms/deployment-create.tsx')).DeploymentCreate)

type Version = Pick<ResponseOf<'versions.get'>, 'id' | 'name' | 'type' | 'images' | 'deployments'>
type Props = { teamSlug: string; project: Pick<ResponseOf<'projects.get'>, 'id' | 'name' | 'type'>; version: Version }

/** Whether all that a deployment needs of a version is there. */
export const isReadyToDeploy = ({ images }: Pick<Version, 'images'>): boolean =>
  images.length > 0 && images.every(({ tag }) => tag)

/** The next step of a version whose images are chosen: prepare its first deployment, or review the one that is there. */
export function DeployVersion({ teamSlug, project, version }: Props) {
  const { t } = useTranslation('versions')
  const navigate = useNavigate()
  const [creating, setCreating] = useState(false)
  const denied = useDenied('deployments.create')
  if (!isReadyToDeploy(version)) return null
  const deployable = version.deployments.filter(
    ({ status }) => deploymentAction('deploy', { status, versionType: version.type }).allowed,
  )
  const [only] = deployable
  const deploy = () => {
    if (version.deployments.length === 0) return setCreating(true)
    void navigate(
      only && deployable.length === 1
        ? links.deployment(teamSlug, only.id)
        : { to: '.', search: { section: 'deployments' as const } },
    )
  }
  return (
    <>
      <Button
        variant="main"
        icon={Rocket}
        disabledReason={version.deployments.length === 0 ? denied : null}
        onClick={deploy}
      >
        {t('deployment.deploy')}
      </Button>
      {creating && (
        <DeploymentCreate teamSlug={teamSlug} of={{ project, version }} onClose={() => setCreating(false)} />
      )}
    </>
  )
}
