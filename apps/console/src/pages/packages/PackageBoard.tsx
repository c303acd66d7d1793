import { limits, type ResponseOf } from '@crux/contract'
import { Layers, Plus, Server } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useDenied } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { useNarrow } from '../../components/use-media.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { Filters } from '../../table/Filters.tsx'
import { filterRows } from '../../table/filter-rows.ts'
import { NoMatches } from '../../table/NoMatches.tsx'
import { BoardCards } from './BoardCards.tsx'
import { BoardTable } from './BoardTable.tsx'
import type { BoardViewProps, PromotionTarget } from './board.ts'
import { useBoard, useLiveNodes } from './use-board.ts'
import { useEnvironmentActions, useFrozen } from './use-environment-actions.ts'

const EnvironmentForm = lazyComponent(async () => (await import('../../forms/environment-form.tsx')).EnvironmentForm)
const PromoteDialog = lazyComponent(async () => (await import('./PromoteDialog.tsx')).PromoteDialog)

type Props = {
  teamSlug: string
  details: ResponseOf<'packages.get'>
  /** Opens the form of the package, where its projects are chosen. */
  onEdit: () => void
  editDenied: string | null
}
/** 'new', or the id of the environment that is edited. */
type OpenForm = 'new' | { id: string }

/** What runs of the package: projects as rows, environments as columns. */
export function PackageBoard({ teamSlug, details, onEdit, editDenied }: Props) {
  const { t } = useTranslation('packages')
  const params = { teamSlug, packageId: details.id }
  const query = useBoard(params)
  const [form, setForm] = useState<OpenForm | null>(null)
  const [target, setTarget] = useState<PromotionTarget | null>(null)
  const createDenied = useDenied('packages.create-environment')
  const toFrozen = useFrozen()
  const find = (environmentId: string) => details.environments.find(({ id }) => id === environmentId)
  const getFrozen = (environmentId: string) => toFrozen(find(environmentId)?.hasFreezeWindows)
  const environmentActions = useEnvironmentActions({ ...params, getFrozen, onEdit: (id) => setForm({ id }) })
  const edited = typeof form === 'object' && form ? find(form.id) : undefined
  const isFull = details.environments.length >= limits.packageEnvironments
  const add = (main: boolean) => (
    <Button
      icon={Plus}
      variant={main ? 'main' : 'plain'}
      disabledReason={createDenied ?? (isFull && t('environment.full', { count: limits.packageEnvironments }))}
      onClick={() => setForm('new')}
    >
      {t('environment.add')}
    </Button>
  )
  return (
    <>
      <QueryView query={query} skeleton={<SkeletonRows rows={5} filters />}>
        {(board) =>
          board.projects.length === 0 ? (
            <EmptyState
              icon={Layers}
              title={t('board.noProjectsTitle')}
              text={t('board.noProjectsText')}
              action={
                <Button variant="main" icon={Plus} disabledReason={editDenied} onClick={onEdit}>
                  {t('board.addProjects')}
                </Button>
              }
            />
          ) : board.environments.length === 0 ? (
            <EmptyState
              icon={Server}
              title={t('environment.emptyTitle')}
              text={t('environment.emptyText')}
              action={add(true)}
            />
          ) : (
            <FilteredBoard
              board={board}
              add={add(false)}
              {...{ teamSlug, packageId: details.id, environmentActions, onPromote: setTarget }}
            />
          )
        }
      </QueryView>
      {(form === 'new' || edited) && (
        <EnvironmentForm
          {...params}
          packageName={details.name}
          environment={edited}
          frozen={edited && getFrozen(edited.id)}
          onClose={() => setForm(null)}
        />
      )}
      {target && <PromoteDialog {...params} target={target} onClose={() => setTarget(null)} />}
    </>
  )
}

/** Below this number all projects are in sight. */
const searchedFrom = 6

function FilteredBoard({ add, ...props }: Omit<BoardViewProps, 'projects'> & { add: ReactNode }) {
  const { t } = useTranslation('packages')
  const narrow = useNarrow()
  const [text, setText] = useState('')
  const environments = useLiveNodes(props.teamSlug, props.board.environments)
  const board = { ...props.board, environments }
  const found = filterRows(board.projects, text, ({ project }) => [project.name])
  const View = narrow ? BoardCards : BoardTable
  return (
    <>
      <Filters trailing={add}>
        {(board.projects.length >= searchedFrom || text !== '') && (
          <SearchBox label={t('board.filter')} value={text} onChange={setText} />
        )}
      </Filters>
      {found.length === 0 ? (
        <NoMatches total={board.projects.length} onReset={() => setText('')} />
      ) : (
        <View {...props} board={board} projects={found} />
      )}
    </>
  )
}
