import type { NodeStatus, ResponseOf } from '@crux/contract'
import { Shield } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Box, DescriptionList } from '../../components/Box.tsx'
import { State } from '../../components/State.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { links } from '../../routing/links.ts'
import { OpenService } from './OpenService.tsx'
import { QueuePosition } from './QueuePosition.tsx'
import { Reason } from './Reason.tsx'
import { shownAddresses, useServiceAddresses } from './use-service-addresses.ts'

type Details = ResponseOf<'deployments.get'>
type Props = { teamSlug: string; deployment: Details; nodeStatus: NodeStatus | undefined }

/** The target, the running release, and the result of the last release or the queue position of the next. */
export function DeploymentSummary({ teamSlug, deployment, nodeStatus }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const { outcome, queuedBehind, note } = deployment
  const addresses = useServiceAddresses(teamSlug, deployment.id, deployment.node.id)
  const items = [
    // Others have their version beside the title, which leads there.
    deployment.project.type === 'versionless' && {
      label: t('list.project'),
      value: (
        <TextLink {...links.project(teamSlug, deployment.project.id)} strong>
          {deployment.project.name}
        </TextLink>
      ),
    },
    {
      label: t('list.node'),
      value: (
        <span className="flex items-center gap-2">
          {nodeStatus && <State kind="node" value={nodeStatus} compact />}
          <TextLink {...links.node(teamSlug, deployment.node.id)} strong>
            {deployment.node.name}
          </TextLink>
        </span>
      ),
    },
    { label: t('list.prefix'), value: <span className="mono">{deployment.prefix}</span> },
    { label: t('detail.running'), value: <RunningNow teamSlug={teamSlug} deployment={deployment} /> },
    addresses.length > 0 && {
      label: t('progress.service'),
      value: (
        <span className="-mb-1.5 flex flex-wrap items-center gap-1">
          {addresses.slice(0, shownAddresses).map((address) => (
            <OpenService key={address.url} address={address} size="sm" />
          ))}
        </span>
      ),
    },
    queuedBehind && {
      label: t('progress.queue'),
      value: <QueuePosition teamSlug={teamSlug} deployment={deployment} />,
    },
    outcome && {
      label: t('list.outcome'),
      value:
        deployment.status === 'failed' ? (
          <div className="text-failed">
            <Reason text={outcome} />
          </div>
        ) : (
          outcome
        ),
    },
    deployment.protected && {
      label: t('create.protected'),
      value: (
        <span className="flex items-center gap-1.5">
          <Shield aria-hidden className="size-3.5! text-accent" />
          {t('detail.protected')}
        </span>
      ),
    },
    note && { label: t('create.note'), value: <Note text={note} /> },
  ]
  return (
    <Box className="mb-4">
      <DescriptionList items={items.filter((item) => typeof item === 'object' && item !== null)} />
    </Box>
  )
}

function RunningNow({ teamSlug, deployment }: { teamSlug: string; deployment: Details }) {
  const { t } = useTranslation(['deployments', 'common'])
  const { running } = deployment
  if (!running) return <span className="font-normal text-ink-2">{t('detail.nothing')}</span>
  const hasVersions = deployment.project.type === 'versioned'
  const release = t('detail.release', { number: running.number })
  return (
    <span className="flex flex-wrap items-baseline gap-x-2">
      <TextLink
        {...links.deploymentProgress(teamSlug, running.deploymentId, running.number)}
        strong
        className={hasVersions ? 'mono' : undefined}
      >
        {hasVersions ? running.versionName : release}
      </TextLink>
      <span className="font-normal text-ink-2">
        {hasVersions && `${release}, `}
        <TimeAgo at={running.startedAt} />
      </span>
    </span>
  )
}

/** Shows a few lines of the note, so that a long one does not push the deployment's data off the screen. */
function Note({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <div tabIndex={0} className="max-h-30 max-w-prose overflow-y-auto font-normal whitespace-pre-wrap">
      {text}
    </div>
  )
}
