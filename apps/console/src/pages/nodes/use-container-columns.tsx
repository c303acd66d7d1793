import type { Container, ResponseOf } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { MiddleEllipsis } from '../../components/MiddleEllipsis.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { nodeHost } from '../deployments/service-address.ts'
import { ContainerPorts } from './ContainerPorts.tsx'
import { ContainerState, Health } from './ContainerState.tsx'
import { containerName, imageText, isForeign } from './containers.ts'
import type { useContainerActions } from './use-container-actions.ts'
import type { useStopper } from './use-stopper.ts'

type Options = {
  teamSlug: string
  node: ResponseOf<'nodes.get'>
  stopper: ReturnType<typeof useStopper>
  pendingOf: ReturnType<typeof useContainerActions>['pendingOf']
}

export function useContainerColumns({ teamSlug, node, stopper, pendingOf }: Options): Column<Container>[] {
  const { t } = useTranslation('nodes')
  const host = nodeHost(node.address, location.hostname)
  return [
    {
      id: 'state',
      header: t('containers.state'),
      cell: (container) => (
        <ContainerState container={container} busy={pendingOf(container)} stoppedBy={stopper(container)} />
      ),
      sort: (container) => container.state,
      narrow: 'lead',
    },
    {
      id: 'name',
      header: t('containers.name'),
      cell: (container) =>
        isForeign(container) ? (
          <span className="text-ink-2" title={t('containers.notYours')}>
            <MiddleEllipsis text={containerName(container)} />
          </span>
        ) : (
          <TextLink {...links.containerInspect(teamSlug, node.id, container.managed ?? container.id)} strong>
            <MiddleEllipsis text={containerName(container)} />
          </TextLink>
        ),
      sort: containerName,
      narrow: 'title',
    },
    {
      id: 'image',
      header: t('containers.image'),
      cell: (container) => (
        <span className="mono text-ink-2">
          <MiddleEllipsis text={imageText(container)} />
        </span>
      ),
      sort: imageText,
    },
    {
      id: 'ports',
      header: t('containers.ports'),
      cell: (container) => <ContainerPorts container={container} host={host} />,
    },
    { id: 'health', header: t('containers.health'), cell: (container) => <Health container={container} />, grow: true },
    {
      id: 'age',
      header: t('containers.created'),
      cell: (container) =>
        isForeign(container) ? (
          <span data-no-value className="text-ink-3">
            -
          </span>
        ) : (
          <RelativeTime at={container.createdAt} className="text-ink-2 tabular-nums" />
        ),
      sort: (container) => container.createdAt,
      align: 'right',
      narrow: 'end',
    },
  ]
}
