import type { Deployment } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { TextLink } from '../../components/TextLink.tsx'
import { versionTitle } from '../../components/version-title.ts'
import { links } from '../../routing/links.ts'

type Queued = Pick<Deployment, 'queuePosition' | 'queuedBehind'>
type Props = { teamSlug: string; deployment: Queued }

/** How often a page polls the queue position, because it changes without an event. */
export const queueIntervalMs = 1_500

/** "2nd in the queue behind Checkout 1.0.0": releases with one node and prefix go one after another. */
export function QueuePosition({ teamSlug, deployment }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const { queuePosition, queuedBehind } = deployment
  if (!queuePosition || !queuedBehind) return null
  const { projectName, projectType, versionName } = queuedBehind
  return (
    <span className="font-normal text-ink-2">
      {t('queue.position', { count: queuePosition, ordinal: true })}{' '}
      <TextLink {...links.deploymentProgress(teamSlug, queuedBehind.deploymentId)} inline>
        {versionTitle({ name: projectName, type: projectType ?? 'versioned' }, { name: versionName })}
      </TextLink>
    </span>
  )
}
