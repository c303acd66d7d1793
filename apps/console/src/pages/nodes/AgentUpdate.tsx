import type { ResponseOf } from '@crux/contract'
import { CircleFadingArrowUp, LoaderCircle, TriangleAlert } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { useChannel } from '../../api/live.ts'
import { Button } from '../../components/Button.tsx'
import { confirm } from '../../components/confirm.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { toastText } from '../../components/toasts.tsx'

type Node = ResponseOf<'nodes.get'>

/** Shows the update of the agent: that it runs, why the last one failed, or that the agent needs one. */
export function AgentUpdateState({ node }: { node: Node }) {
  const { t } = useTranslation('nodes')
  const { agentUpdate, status, updatable } = node
  if (status === 'updating')
    return (
      <p role="status" className="mb-3 flex flex-wrap items-center gap-2 rounded-md px-3 py-2 tinted-progress">
        <LoaderCircle aria-hidden className="shrink-0 animate-[turn_.9s_linear_infinite]" />
        <span className="min-w-0 flex-1">
          {t(`update.state.${agentUpdate && agentUpdate.state !== 'failed' ? agentUpdate.state : 'preparing'}`)}{' '}
          {agentUpdate && (
            <>
              {t('update.by', { name: agentUpdate.startedBy })} <TimeAgo at={agentUpdate.startedAt} />.
            </>
          )}
        </span>
      </p>
    )
  if (agentUpdate?.state === 'failed')
    return (
      <p role="status" className="mb-3 flex flex-wrap items-center gap-2 rounded-md px-3 py-2 tinted-failed">
        <TriangleAlert aria-hidden className="shrink-0 text-failed" />
        <span className="min-w-0 flex-1 wrap-anywhere">
          {t('update.failed')} <TimeAgo at={agentUpdate.startedAt} />: {agentUpdate.error}
        </span>
      </p>
    )
  if (status !== 'outdated') return null
  return (
    <p role="status" className="mb-3 flex flex-wrap items-center gap-2 rounded-md px-3 py-2 tinted-failed">
      <TriangleAlert aria-hidden className="shrink-0 text-failed" />
      <span className="min-w-0 flex-1">{t(updatable ? 'update.outdated' : 'update.outdatedFixed')}</span>
    </p>
  )
}

/** Offered where the agent can be replaced, and shown while it is. */
export function UpdateAgentButton({ teamSlug, node }: { teamSlug: string; node: Node }) {
  const { t } = useTranslation('nodes')
  const params = { teamSlug, nodeId: node.id }
  const update = useCall('nodes.update-agent', { stale: [queryKey('nodes.list'), queryKey('nodes.get', { params })] })
  const isUpdating = node.status === 'updating'
  if (!node.updatable && !isUpdating) return null
  return (
    <Button
      variant={node.status === 'outdated' ? 'main' : 'plain'}
      icon={CircleFadingArrowUp}
      busy={update.isPending || isUpdating}
      disabledReason={update.denied}
      onClick={() =>
        void update.ask(
          {
            title: t('update.title', { name: node.name }),
            text: t('update.text', { version: node.version }),
            action: t('update.action'),
          },
          { params },
        )
      }
    >
      {isUpdating ? t('update.running') : t('update.action')}
    </Button>
  )
}

/** Updates the agents of a list one by one; a refusal is shown and does not stop the others. So is an update that fails while the list is open. */
export function UpdateAllAgents({ teamSlug, nodes }: { teamSlug: string; nodes: ResponseOf<'nodes.list'> }) {
  const { t } = useTranslation('nodes')
  const update = useCall('nodes.update-agent', { stale: [queryKey('nodes.list'), queryKey('nodes.get')] })
  useChannel(
    'nodes',
    { teamSlug },
    {
      event: ({ id, error }) => {
        const node = nodes.find((one) => one.id === id)
        if (error && node) toastText(t('update.nodeFailed', { name: node.name, error }))
      },
    },
  )
  const updatable = nodes.filter((node) => node.updatable)
  if (updatable.length === 0) return null
  const count = updatable.length
  async function updateAll() {
    const question = {
      title: t('update.allTitle', { count }),
      text: t('update.allText', { names: updatable.map(({ name }) => name).join(', ') }),
      action: t('update.all', { count }),
    }
    if (!(await confirm(question))) return
    for (const { id } of updatable) update.mutate({ params: { teamSlug, nodeId: id } })
  }
  return (
    <Button
      icon={CircleFadingArrowUp}
      busy={update.isPending}
      disabledReason={update.denied}
      onClick={() => void updateAll()}
    >
      {t('update.all', { count })}
    </Button>
  )
}
