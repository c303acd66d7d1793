import type { Container, ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { Box, DescriptionList } from '../../components/Box.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { versionTitle } from '../../components/version-title.ts'
import { links } from '../../routing/links.ts'
import { OpenService } from '../deployments/OpenService.tsx'
import { nodeHost, serviceAddresses } from '../deployments/service-address.ts'
import { PortLink } from './ContainerPorts.tsx'
import { Health } from './ContainerState.tsx'
import { getPrefix, hasHealth, imageText, portText } from './containers.ts'
import { ExternalAddressList } from './ExternalAddresses.tsx'

type Props = {
  teamSlug: string
  node: ResponseOf<'nodes.get'>
  container: Container
  /** When it ended, if the engine has reported it. */
  endedAt: string | null
}

/** The main data of a container: its times, addresses, image, and the deployment that started it. */
export function ContainerDetails({ teamSlug, node, container, endedAt }: Props) {
  const { t } = useTranslation(['nodes', 'common'])
  const prefix = getPrefix(container)
  const isRunning = container.state === 'running'
  const items: ({ label: ReactNode; value: ReactNode; isLong?: boolean } | false | null | '' | undefined)[] = [
    isRunning && container.startedAt
      ? { label: t('container.started'), value: <TimeAgo at={container.startedAt} /> }
      : endedAt && { label: t('container.ended'), value: <TimeAgo at={endedAt} /> },
    !(isRunning && isSoon(container)) && { label: t('container.created'), value: <TimeAgo at={container.createdAt} /> },
    (isRunning || container.pods) &&
      hasHealth(container) && {
        label: t('containers.health'),
        value: <Health container={container} />,
        isLong: !isRunning,
      },
    isRunning && { label: t('containers.ports'), value: <Reached node={node} container={container} />, isLong: true },
    ...(container.externalAddresses ?? []).map((entry) => ({
      label: t(`addresses.${entry.type}`),
      value: <ExternalAddressList entry={entry} />,
      isLong: true,
    })),
    container.labels['dev.crux.deployment'] && {
      label: t('container.deployment'),
      value: <DeploymentLink teamSlug={teamSlug} labels={container.labels} />,
    },
    {
      label: t('container.node'),
      value: (
        <TextLink {...links.node(teamSlug, node.id)} strong>
          {node.name}
        </TextLink>
      ),
    },
    prefix && {
      label: t('container.prefix'),
      value: (
        <TextLink {...links.node(teamSlug, node.id, { prefix })} strong className="mono">
          {prefix}
        </TextLink>
      ),
    },
    {
      label: t('containers.image'),
      isLong: true,
      value: (
        <span className="-my-1 inline-flex items-center gap-1">
          <code className="wrap-anywhere">{imageText(container)}</code>
          <CopyButton text={imageText(container)} label={t('container.copyImage')} />
        </span>
      ),
    },
  ]
  return (
    <Box label={t('container.facts')}>
      <DescriptionList items={items.filter((item) => typeof item === 'object' && item !== null)} />
    </Box>
  )
}

/** Created and started together, as in a deployment: one time is shown for both. */
const isSoon = ({ createdAt, startedAt }: Container) =>
  Date.parse(startedAt ?? createdAt) - Date.parse(createdAt) < 60_000

/** Routed host names and published ports that a browser opens, then what only other containers reach. */
function Reached({ node, container }: { node: ResponseOf<'nodes.get'>; container: Container }) {
  const { t } = useTranslation(['nodes', 'common'])
  const host = container.state === 'running' ? nodeHost(node.address, location.hostname) : null
  const routed = host ? serviceAddresses({ ports: [], labels: container.labels }, host) : []
  if (container.ports.length === 0 && routed.length === 0)
    return <span className="font-normal text-ink-2">{t('container.noPorts')}</span>
  return (
    <ul className="-my-1 flex flex-wrap items-center gap-x-3 gap-y-1 font-normal">
      {routed.map((address) => (
        <li key={address.url}>
          <OpenService address={address} />
        </li>
      ))}
      {container.ports.map((port) => (
        <li key={portText(port)}>
          <PortLink port={port} host={host} />
        </li>
      ))}
    </ul>
  )
}

/** The release that started it. A deployment that was deleted since is named by the labels of its container. */
function DeploymentLink({ teamSlug, labels }: { teamSlug: string; labels: Container['labels'] }) {
  const { t } = useTranslation(['nodes', 'common'])
  const deploymentId = labels['dev.crux.deployment'] ?? ''
  const release = Number(labels['dev.crux.release'])
  const query = useQuery({ ...apiQuery('deployments.get', { params: { teamSlug, deploymentId } }), retry: false })
  if (query.isPending) return <span className="font-normal text-ink-2">{t('common:loading')}</span>
  if (!query.data) return <span className="font-normal text-ink-2">{t('container.deploymentGone')}</span>
  const { project, version } = query.data
  return (
    <span className="flex flex-wrap items-baseline gap-x-2">
      <TextLink {...links.deployment(teamSlug, deploymentId)} strong>
        {versionTitle(project, version)}
      </TextLink>
      {release > 0 && (
        <TextLink {...links.deploymentProgress(teamSlug, deploymentId, release)} className="font-normal">
          {t('container.release', { number: release })}
        </TextLink>
      )}
    </span>
  )
}
