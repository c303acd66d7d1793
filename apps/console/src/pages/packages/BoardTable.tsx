import { useTranslation } from 'react-i18next'
import { cx } from '../../components/class-names.ts'
import { BoardCellView } from './BoardCellView.tsx'
import { type BoardViewProps, findCell } from './board.ts'
import { EnvironmentHead } from './EnvironmentHead.tsx'
import { ProjectHead } from './ProjectHead.tsx'

/** Widths of the columns; those of environments share what is left. */
const projectRem = 11
const environmentRem = 15

const head = 'border-b border-line bg-surface px-3 py-2 text-left align-top'
/** The edge that stays visible over the columns that scroll below. */
const firstColumn = 'sticky left-0 border-r border-line'

/** The head and the first column stay while the rest scrolls, so that 100 projects in 6 environments can be read. */
export function BoardTable({ teamSlug, packageId, board, projects, environmentActions, onPromote }: BoardViewProps) {
  const { t } = useTranslation('packages')
  return (
    <section
      aria-label={t('board.title')}
      className="relative max-h-[max(24rem,calc(100dvh-15.5rem))] overflow-auto rounded-box border border-line bg-surface"
    >
      <table
        aria-label={t('board.title')}
        className="w-full table-fixed border-separate border-spacing-0"
        style={{ minWidth: `${projectRem + environmentRem * board.environments.length}rem` }}
      >
        <colgroup>
          <col style={{ width: `${projectRem}rem` }} />
          {board.environments.map(({ id }) => (
            <col key={id} />
          ))}
        </colgroup>
        <thead className="sticky top-0 z-20">
          <tr>
            <th scope="col" className={cx(head, firstColumn, 'z-10 text-small font-medium text-ink-3')}>
              {t('board.project')}
            </th>
            {board.environments.map((environment) => (
              <th key={environment.id} scope="col" className={head}>
                <EnvironmentHead
                  {...{ teamSlug, packageId, environment }}
                  actions={environmentActions(board.environments, environment)}
                />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {projects.map((one) => (
            <tr key={one.chainId} className="group [&:last-child>*]:border-b-0">
              <th
                scope="row"
                className={cx(firstColumn, 'z-10 border-b border-line bg-surface px-3 py-2 text-left align-top')}
              >
                <ProjectHead teamSlug={teamSlug} project={one} />
              </th>
              {one.latest ? (
                board.environments.map((environment) => (
                  <td key={environment.id} className="border-b border-line px-3 py-2 align-top">
                    <BoardCellView
                      {...{ teamSlug, board, environment, onPromote }}
                      project={one}
                      cell={findCell(one, environment.id) ?? { environmentId: environment.id }}
                    />
                  </td>
                ))
              ) : (
                <td colSpan={board.environments.length} className="border-b border-line px-3 py-2 align-top text-ink-2">
                  {t('board.noVersions')}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
