import type { Container, ResponseOf } from '@crux/contract'
import { nodeTakesCommands } from '@crux/rules'
import { Play, RotateCw, Square, Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { type useChannel, useLinkStatus } from '../../api/live.ts'
import { useDenied } from '../../api/me.ts'
import { confirm } from '../../components/confirm.tsx'
import type { Action } from '../../components/Menu.tsx'
import type { Question } from '../../components/question.ts'
import { containerName, isForeign, isStopNoticed } from './containers.ts'
import { useContainerOperations } from './use-container-operations.ts'

type Props = {
  teamSlug: string
  node: Pick<ResponseOf<'nodes.get'>, 'id' | 'name' | 'status'>
  containers: readonly Container[] | null
  send: ReturnType<typeof useChannel<'node'>>
}

/** The actions of a container in the list and on its page, each with its confirmation and the reason if it is disabled. */
export function useContainerActions({ teamSlug, node, containers, send }: Props) {
  const { t } = useTranslation(['nodes', 'common'])
  const link = useLinkStatus()
  const mayDelete = useDenied('node/delete-container')
  const mayOperate = useDenied('node/container-command')
  const operations = useContainerOperations(containers, `/${teamSlug}/nodes/${node.id}`, (container, operation) =>
    operation === 'delete'
      ? send('delete-container', { container: container.id })
      : send('container-command', { container: container.id, operation }),
  )

  const remove = async (container: Container) => {
    const name = containerName(container)
    const sure = await confirm({
      title: t('containers.deleteTitle', { name }),
      text: t('containers.deleteText'),
      action: t('containers.delete'),
      danger: true,
    })
    if (sure) operations.run(container, 'delete')
  }
  /** A stop takes a service down with one press on a small icon: a confirmation is shown if others are affected. */
  const stop = async (container: Container) => {
    if (!isStopNoticed(container) || (await confirm(stopQuestion(container, t)))) operations.run(container, 'stop')
  }

  const takes = nodeTakesCommands(node)
  const stale = (link !== 'open' && t('containers.offline')) || (!takes.allowed && takes.reason)
  const listActions = (container: Container) => {
    const running = container.state === 'running'
    const busy = operations.getPending(container)
    const foreign = isForeign(container) && t('containers.notYours')
    const fixed = foreign || (container.isJob === true && t('containers.job'))
    const waits = busy && t(`containers.busy.${busy}`)
    const operate: Action = running
      ? {
          id: 'stop',
          label: t('containers.stop'),
          icon: Square,
          disabledReason: fixed || stale || mayOperate || waits,
          run: () => void stop(container),
        }
      : {
          id: 'start',
          label: t('containers.start'),
          icon: Play,
          disabledReason:
            fixed ||
            stale ||
            mayOperate ||
            waits ||
            (container.state !== 'exited' && container.state !== null && t('containers.notExited')),
          run: () => operations.run(container, 'start'),
        }
    const restart: Action = {
      id: 'restart',
      label: t('containers.restart'),
      icon: RotateCw,
      disabledReason: fixed || stale || mayOperate || waits || (!running && t('containers.notRunning')),
      run: () => operations.run(container, 'restart'),
    }
    const removal: Action = {
      id: 'delete',
      label: t('containers.delete'),
      icon: Trash2,
      danger: true,
      disabledReason: foreign || stale || mayDelete || waits,
      run: () => void remove(container),
    }
    return { operate, restart, remove: removal, foreign }
  }
  return { listActions, getPending: operations.getPending }
}

function stopQuestion(container: Container, t: ReturnType<typeof useTranslation<['nodes', 'common']>>['t']): Question {
  const published = container.ports.flatMap(({ external }) => external ?? [])
  return {
    title: t('containers.stopTitle', { name: containerName(container) }),
    text: [
      ...(published.length > 0
        ? [t('containers.stopPorts', { count: published.length, ports: published.join(', ') })]
        : []),
      t('containers.stopText'),
    ].join(' '),
    action: t('containers.stop'),
    danger: true,
  }
}
