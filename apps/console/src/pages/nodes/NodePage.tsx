import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { Box as BoxIcon, Layers, Pencil, Rocket, ScrollText, Server, Trash2, Unlink, Unplug } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryClient, queryKey, useCall } from '../../api/client.ts'
import { useChannel } from '../../api/live.ts'
import { useDenied } from '../../api/me.ts'
import { useRemoval } from '../../api/use-removal.ts'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { type Action, ActionMenu } from '../../components/Menu.tsx'
import { PageHeader } from '../../components/PageHeader.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonPage } from '../../components/Skeletons.tsx'
import { State, StateMark } from '../../components/State.tsx'
import { statusStyle } from '../../components/status-styles.ts'
import { Tab, Tabs } from '../../components/Tabs.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { toastSuccess } from '../../components/toasts.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links, type NodeSection } from '../../routing/links.ts'
import { useAnchor } from '../../routing/use-anchor.ts'
import { AgentUpdateState, UpdateAgentButton } from './AgentUpdate.tsx'
import { LocalAgentEnd } from './LocalAgentEnd.tsx'
import { NodeContainers } from './NodeContainers.tsx'
import { NodeDeployments } from './NodeDeployments.tsx'
import { engineText } from './NodesPage.tsx'

const NodeForm = lazyComponent(async () => (await import('../../forms/node-form.tsx')).NodeForm)
const NodeInstall = lazyComponent(async () => (await import('./NodeInstall.tsx')).NodeInstall)
const NodeImages = lazyComponent(async () => (await import('./NodeImages.tsx')).NodeImages)
const NodeMachines = lazyComponent(async () => (await import('./NodeMachines.tsx')).NodeMachines)
const NodeEvents = lazyComponent(async () => (await import('./NodeEvents.tsx')).NodeEvents)

type Node = ResponseOf<'nodes.get'>

export function NodePage() {
  const { teamSlug, nodeId } = useParams({ from: '/app/$teamSlug/nodes/$nodeId' })
  const { t } = useTranslation(['nodes', 'common'])
  const key = queryKey('nodes.get', { params: { teamSlug, nodeId } })
  const query = useQuery(apiQuery('nodes.get', { params: { teamSlug, nodeId } }))
  // The state itself is kept fresh by the frame; what a connect changes besides (token, set-up) is read again.
  useChannel(
    'nodes',
    { teamSlug },
    {
      event: (change) => {
        if (change.id !== nodeId) return
        const known = queryClient.getQueryData<Node>(key)
        if (change.status === 'connected' && known && !known.hasToken)
          toastSuccess(t('install.connected', { name: known.name }))
        void queryClient.invalidateQueries({ queryKey: key })
      },
    },
  )
  return (
    <QueryView query={query} skeleton={<SkeletonPage />}>
      {(node) => <NodeView teamSlug={teamSlug} node={node} />}
    </QueryView>
  )
}

function NodeView({ teamSlug, node }: { teamSlug: string; node: Node }) {
  const { t } = useTranslation(['nodes', 'common'])
  const { section = 'containers', prefix } = useSearch({ from: '/app/$teamSlug/nodes/$nodeId' })
  const edit = useAnchor('edit')
  const [count, setCount] = useState<number>()
  const actions = useNodeActions(teamSlug, node, edit.show)
  const installed = node.hasToken || node.status !== 'unreachable'
  // The panel beside the installation is done with it; as a sheet it would cover the containers unasked.
  const before = useRef(installed)
  useEffect(() => {
    if (installed && !before.current && edit.open) edit.close()
    before.current = installed
  }, [installed, edit])
  const tab = (id: NodeSection) => ({
    ...links.node(teamSlug, node.id, { section: id }),
    selected: section === id,
  })

  return (
    <>
      <PageHeader
        title={node.name}
        crumbs={[{ label: t('list.title'), link: links.nodes(teamSlug) }]}
        mark={
          <span className="text-title [&_span]:gap-2 [&_svg]:size-4!">
            {installed ? (
              <State kind="node" value={node.status} />
            ) : (
              <StateMark appearance={statusStyle('phase', 'waiting')} label={t('notYet')} />
            )}
          </span>
        }
        subtitle={<NodeLine node={node} installed={installed} />}
        actions={
          <>
            <UpdateAgentButton teamSlug={teamSlug} node={node} />
            <ActionMenu actions={actions} />
          </>
        }
      />
      <LocalAgentEnd localAgent={node.localAgent} />
      <AgentUpdateState node={node} />
      {!installed ? (
        <div className="grid items-start gap-4 min-[1100px]:grid-cols-[minmax(0,1.5fr)_minmax(0,1fr)]">
          <NodeInstall teamSlug={teamSlug} node={node} />
          {edit.open && (
            <Box title={t('edit.panel')}>
              <div className="p-3.5">
                <NodeForm teamSlug={teamSlug} node={node} onClose={edit.close} shape="panel" />
              </div>
            </Box>
          )}
        </div>
      ) : (
        <>
          {node.status === 'unreachable' && (
            <p role="status" className="mb-3 flex flex-wrap items-center gap-2 rounded-md px-3 py-2 tinted-failed">
              <Unplug aria-hidden className="text-failed" />
              <span className="min-w-0 flex-1">{t('away')}</span>
              {node.localAgent.available && !node.localAgent.running && (
                <RestartLocalAgent teamSlug={teamSlug} node={node} />
              )}
            </p>
          )}
          <Tabs label={t('sections')}>
            <Tab {...tab('containers')} icon={BoxIcon} count={count}>
              {t('section.containers')}
            </Tab>
            <Tab {...tab('deployments')} icon={Rocket}>
              {t('section.deployments')}
            </Tab>
            {/* The machines of a cluster manage their images themselves. */}
            {node.type === 'docker' && (
              <Tab {...tab('images')} icon={Layers}>
                {t('section.images')}
              </Tab>
            )}
            {node.type === 'k8s' && (
              <Tab {...tab('machines')} icon={Server}>
                {t('section.machines')}
              </Tab>
            )}
            <Tab {...tab('events')} icon={ScrollText}>
              {t('section.events')}
            </Tab>
          </Tabs>
          {section === 'containers' && (
            <NodeContainers key={prefix ?? ''} teamSlug={teamSlug} node={node} prefix={prefix} onCount={setCount} />
          )}
          {section === 'deployments' && <NodeDeployments teamSlug={teamSlug} nodeId={node.id} />}
          {section === 'images' && node.type === 'docker' && <NodeImages teamSlug={teamSlug} node={node} />}
          {section === 'machines' && node.type === 'k8s' && <NodeMachines teamSlug={teamSlug} node={node} />}
          {section === 'events' && <NodeEvents teamSlug={teamSlug} nodeId={node.id} />}
          {edit.open && <NodeForm teamSlug={teamSlug} node={node} onClose={edit.close} />}
        </>
      )}
    </>
  )
}

/** "Docker 28.2 on Debian 12, agent 1.4.0, connected for 64 d, 203.0.113.7" */
function NodeLine({ node, installed }: { node: Node; installed: boolean }) {
  const { t } = useTranslation(['nodes', 'common'])
  if (!installed) return t('line.new')
  const parts = [
    engineText(node) ?? t(`type.${node.type}`),
    node.version && t('line.agent', { version: node.version }),
    node.status !== 'unreachable' && node.connectedAt && (
      <>
        {t('line.connected')} <TimeAgo at={node.connectedAt} />
      </>
    ),
    node.address && <code>{node.address}</code>,
    node.description,
  ].filter(Boolean)
  return parts.map((part, index) => (
    <span key={index}>
      {index > 0 && ', '}
      {part}
    </span>
  ))
}

function RestartLocalAgent({ teamSlug, node }: { teamSlug: string; node: Node }) {
  const { t } = useTranslation(['nodes', 'common'])
  const start = useCall('nodes.start-local-agent', { stale: [queryKey('nodes.get')] })
  return (
    <Button
      size="sm"
      busy={start.isPending}
      disabledReason={start.denied}
      onClick={() => start.mutate({ params: { teamSlug, nodeId: node.id } })}
    >
      {t('install.startAgain')}
    </Button>
  )
}

function useNodeActions(teamSlug: string, node: Node, showEdit: () => void): Action[] {
  const { t } = useTranslation(['nodes', 'common'])
  const editDenied = useDenied('nodes.update')
  const params = { teamSlug, nodeId: node.id }
  const stale = [queryKey('nodes.list'), queryKey('nodes.get', { params })]
  const kick = useCall('nodes.kick', { stale, done: t('kick.done', { name: node.name }) })
  const revoke = useCall('nodes.revoke-token', { stale, done: t('revoke.done', { name: node.name }) })
  const questionTo = (what: 'kick' | 'revoke' | 'remove') => ({
    title: t(`${what}.title`, { name: node.name }),
    text: t(`${what}.text`, { name: node.name }),
    action: t(`${what}.action`),
    danger: true,
  })
  const remove = useRemoval('nodes.delete', {
    input: { params },
    stale: [queryKey('nodes.list'), queryKey('dashboard.get')],
    question: { ...questionTo('remove'), typeName: node.name },
    done: t('remove.done', { name: node.name }),
    list: links.nodes(teamSlug),
  })

  return [
    { id: 'edit', label: t('common:edit'), icon: Pencil, disabledReason: editDenied, run: showEdit },
    {
      id: 'kick',
      label: t('kick.action'),
      icon: Unplug,
      disabledReason: kick.denied ?? (node.status === 'unreachable' && t('kick.away')),
      run: () => void kick.ask(questionTo('kick'), { params }),
    },
    {
      id: 'revoke',
      label: t('revoke.action'),
      icon: Unlink,
      disabledReason: revoke.denied ?? (!node.hasToken && t('revoke.none')),
      danger: true,
      run: () => void revoke.ask(questionTo('revoke'), { params }),
    },
    {
      id: 'delete',
      label: t('remove.action'),
      icon: Trash2,
      disabledReason: remove.denied ?? (node.inUse && t('remove.inUse')),
      danger: true,
      run: () => void remove.ask(),
    },
  ]
}
