import { useNavigate } from '@tanstack/react-router'
import { ArrowLeft, ArrowRight, ExternalLink, Pencil, Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { queryClient, queryKey, useCall } from '../../api/client.ts'
import { useDenied, useDeniedPart } from '../../api/me.ts'
import type { Action } from '../../components/Menu.tsx'
import { toastSuccess } from '../../components/toasts.tsx'
import { moveBy } from '../../forms/move-by.ts'
import { links } from '../../routing/links.ts'
import type { Board } from './board.ts'

/** Queries that show the environments of a package. */
export const environmentQueries = [
  queryKey('packages.list'),
  queryKey('packages.get'),
  queryKey('packages.board'),
  queryKey('packages.get-environment'),
]

type Options = {
  teamSlug: string
  packageId: string
  /** Why an environment can be neither moved to another node nor deleted. */
  getFrozen: (environmentId: string) => string | null
  onEdit: (environmentId: string) => void
}
type Environment = { id: string; name: string }

/** What can be done with an environment in the head of its column: open, edit, move, delete. */
export function useEnvironmentActions({ teamSlug, packageId, getFrozen, onEdit }: Options) {
  const { t } = useTranslation(['packages', 'common'])
  const navigate = useNavigate()
  const editDenied = useDenied('packages.update-environment')
  const params = { teamSlug, packageId }
  const boardKey = queryKey('packages.board', { params })
  const order = useCall('packages.order-environments', {
    stale: environmentQueries,
    onSuccess: (_, { body }) => {
      queryClient.setQueryData<Board>(boardKey, (board) => board && inOrder(board, body))
    },
  })
  const remove = useRemoveEnvironment()
  const move = async (all: readonly Environment[], { id, name }: Environment, step: -1 | 1) => {
    const ids = moveBy(
      all.map((one) => one.id),
      id,
      step,
    )
    await order.mutateAsync({ params, body: ids }).then(
      () => toastSuccess(t('environment.moved', { name, place: ids.indexOf(id) + 1, total: ids.length })),
      // The call has shown it.
      () => undefined,
    )
  }
  return (all: readonly Environment[], environment: Environment): Action[] => {
    const { id } = environment
    const position = all.findIndex((one) => one.id === id)
    return [
      {
        id: 'open',
        label: t('environment.open'),
        icon: ExternalLink,
        run: () => void navigate(links.packageEnvironment(teamSlug, packageId, id)),
      },
      { id: 'edit', label: t('common:edit'), icon: Pencil, disabledReason: editDenied, run: () => onEdit(id) },
      {
        id: 'left',
        label: t('environment.moveLeft'),
        icon: ArrowLeft,
        disabledReason: order.denied ?? (position === 0 && t('environment.isFirst')),
        run: () => void move(all, environment, -1),
      },
      {
        id: 'right',
        label: t('environment.moveRight'),
        icon: ArrowRight,
        disabledReason: order.denied ?? (position === all.length - 1 && t('environment.isLast')),
        run: () => void move(all, environment, 1),
      },
      {
        id: 'delete',
        label: t('common:delete'),
        icon: Trash2,
        danger: true,
        disabledReason: remove.denied ?? getFrozen(id),
        run: () => remove.ask(params, environment),
      },
    ]
  }
}

/** Another node or prefix, or none, would end the freeze of an environment. @returns the reason, null where it is allowed */
export function useFrozen(): (hasFreezeWindows: boolean | undefined) => string | null {
  const { t } = useTranslation('packages')
  const reason = useDeniedPart('packages.freeze')
  return (hasFreezeWindows) => (hasFreezeWindows && reason ? t('environment.frozenEdit', { reason }) : null)
}

/** Asks, and deletes an environment. Its history of promotions goes with it, so its name has to be typed. */
export function useRemoveEnvironment(onDeleted?: () => unknown) {
  const { t } = useTranslation('packages')
  const remove = useCall('packages.delete-environment', { stale: environmentQueries.slice(0, 3), onSuccess: onDeleted })
  return {
    denied: remove.denied,
    busy: remove.isPending,
    ask: (params: { teamSlug: string; packageId: string }, { id, name }: Environment) =>
      remove.ask(
        {
          title: t('environment.deleteTitle', { name }),
          text: t('environment.deleteText'),
          action: t('environment.deleteAction'),
          danger: true,
          typeName: name,
        },
        { params: { ...params, environmentId: id } },
      ),
  }
}

/** The answer of the new order, before the board itself is read again: the columns move once. */
const inOrder = (board: Board, ids: readonly string[]): Board => ({
  ...board,
  environments: [...board.environments].sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id)),
})
