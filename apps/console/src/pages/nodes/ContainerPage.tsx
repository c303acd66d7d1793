import type { Container, ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { PackageX, ScrollText } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useChannel } from '../../api/live.ts'
import { Box } from '../../components/Box.tsx'
import { Button, ButtonLink } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ActionMenu } from '../../components/Menu.tsx'
import { NotFound } from '../../components/NotFound.tsx'
import { PageHeader } from '../../components/PageHeader.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonPage, SkeletonRows } from '../../components/Skeletons.tsx'
import { isStatus } from '../../errors/describe-error.ts'
import { links } from '../../routing/links.ts'
import { OpenService } from '../deployments/OpenService.tsx'
import { nodeHost, serviceAddresses } from '../deployments/service-address.ts'
import { ContainerDetails } from './ContainerDetails.tsx'
import { ContainerInspection } from './ContainerInspection.tsx'
import { ContainerState } from './ContainerState.tsx'
import { isForeign } from './containers.ts'
import { finishedAt } from './inspection.ts'
import { PodCount } from './PodCount.tsx'
import { PodList } from './PodList.tsx'
import { withPods } from './pods.ts'
import { useContainerActions } from './use-container-actions.ts'
import { useStopper } from './use-stopper.ts'

type Reference = { prefix: string; name: string }

/** One container: its state, where it is reached, its deployment, its actions, and the engine's inspection. */
export function ContainerPage() {
  const { teamSlug, nodeId } = useParams({ from: '/app/$teamSlug/nodes/$nodeId/inspect' })
  const { prefix, name } = useSearch({ from: '/app/$teamSlug/nodes/$nodeId/inspect' })
  const query = useQuery(apiQuery('nodes.get', { params: { teamSlug, nodeId } }))
  if (!name) return <NotFound />
  return (
    <QueryView query={query} skeleton={<SkeletonPage />}>
      {(node) => (
        // Another container gets a new page without the state of the previous one.
        <ContainerView key={`${prefix}/${name}`} teamSlug={teamSlug} node={node} reference={{ prefix, name }} />
      )}
    </QueryView>
  )
}

type Props = { teamSlug: string; node: ResponseOf<'nodes.get'>; reference: Reference }

function ContainerView({ teamSlug, node, reference }: Props) {
  const { t } = useTranslation(['nodes', 'common'])
  const navigate = useNavigate()
  const [containers, setContainers] = useState<readonly Container[] | null>(null)
  const { prefix, name } = reference
  const send = useChannel(
    'node',
    { teamSlug, nodeId: node.id },
    {
      ready: (channel) => channel.send('watch-containers-state', prefix ? { prefix } : {}),
      'containers-state-list': (list) =>
        (list.prefix ?? '') === prefix && setContainers(withPods(list.containers, node.type)),
    },
  )
  const container = containers?.find(
    ({ id, managed }) => isSame(id, reference) || (managed && isSame(managed, reference)),
  )
  const { listActions, getPending } = useContainerActions({ teamSlug, node, containers, send })
  const stopper = useStopper(teamSlug, node.id, container ? [container] : null)
  const inspection = useQuery(
    apiQuery('containers.inspect', { params: { teamSlug, nodeId: node.id, prefix: prefix || '_', name } }),
  )
  const { refetch } = inspection
  const lived = container && `${container.state} ${container.startedAt}`
  // The inspection was fetched when the page opened; it is fetched again when the container starts or ends.
  useEffect(() => {
    if (lived) void refetch()
  }, [lived, refetch])
  // Deleted here or elsewhere, maybe while the page is open. Without a list, which only an agent that is connected sends, the engine decides.
  const isGone = containers ? !container : isStatus(inspection.error, 404)
  const foreign = container && isForeign(container)

  const actions = container && listActions(container)
  const addresses =
    container?.state === 'running' ? serviceAddresses(container, nodeHost(node.address, location.hostname)) : []
  const opens = addresses.find(({ open }) => open)
  const title = prefix ? `${prefix}-${name}` : name
  return (
    <>
      <PageHeader
        title={title}
        crumbs={[
          { label: t('list.title'), link: links.nodes(teamSlug) },
          { label: node.name, link: links.node(teamSlug, node.id) },
        ]}
        mark={
          container && (
            <ContainerState container={container} busy={getPending(container)} stoppedBy={stopper(container)} />
          )
        }
        subtitle={t('container.sub', { node: node.name })}
        actions={
          actions && (
            <>
              {opens && (
                <span className="flex max-w-full">
                  <OpenService address={opens} main />
                </span>
              )}
              <ButtonLink {...links.containerLog(teamSlug, node.id, reference)} icon={ScrollText}>
                {t('containers.log')}
              </ButtonLink>
              {[actions.operate, actions.restart].map(({ id, label, icon, disabledReason, run }) => (
                <Button key={id} icon={icon} disabledReason={disabledReason} onClick={run}>
                  {label}
                </Button>
              ))}
              <ActionMenu actions={[actions.remove]} />
            </>
          )
        }
      />
      {isGone ? (
        <EmptyState
          icon={PackageX}
          title={t('container.goneTitle')}
          text={t('container.goneText', { name: title, node: node.name })}
          action={
            <Button onClick={() => void navigate(links.node(teamSlug, node.id))}>{t('container.goneAction')}</Button>
          }
        />
      ) : (
        <div className="grid gap-4">
          {container && (
            <ContainerDetails
              teamSlug={teamSlug}
              node={node}
              container={container}
              endedAt={inspection.data ? finishedAt(inspection.data.inspection) : null}
            />
          )}
          {container?.pods && (
            <Box title={t('pods.title')} trailing={container.pods.total > 0 && <PodCount container={container} />}>
              <PodList teamSlug={teamSlug} nodeId={node.id} container={container} className="px-3" />
            </Box>
          )}
          {foreign ? (
            <EmptyState icon={PackageX} title={t('container.foreignTitle')} text={t('containers.notYours')} />
          ) : (
            <QueryView query={inspection} skeleton={<SkeletonRows rows={10} />}>
              {(answer) => (
                <ContainerInspection
                  json={answer.inspection}
                  isReading={inspection.isFetching}
                  onRefresh={() => void refetch()}
                />
              )}
            </QueryView>
          )}
        </div>
      )}
    </>
  )
}

const isSame = (a: Reference, b: Reference) => a.prefix === b.prefix && a.name === b.name
