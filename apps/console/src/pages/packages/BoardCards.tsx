import { useTranslation } from 'react-i18next'
import { Box } from '../../components/Box.tsx'
import { BoardCellView } from './BoardCellView.tsx'
import { type BoardViewProps, findCell } from './board.ts'
import { EnvironmentHead } from './EnvironmentHead.tsx'
import { ProjectHead } from './ProjectHead.tsx'

/** The board on a phone: a card per project with a row per environment. What belongs to an environment alone comes first, once. */
export function BoardCards({ teamSlug, packageId, board, projects, environmentActions, onPromote }: BoardViewProps) {
  const { t } = useTranslation('packages')
  return (
    <div className="grid gap-3">
      <Box title={t('environment.title')} label={t('environment.title')}>
        <ul className="divide-y divide-line">
          {board.environments.map((environment) => (
            <li key={environment.id} className="px-3 py-2">
              <EnvironmentHead
                {...{ teamSlug, packageId, environment }}
                actions={environmentActions(board.environments, environment)}
              />
            </li>
          ))}
        </ul>
      </Box>
      {projects.map((one) => (
        <section
          key={one.chainId}
          aria-label={one.project.name}
          // Of a hundred only those near the window are laid out.
          className="min-w-0 rounded-box border border-line bg-surface [content-visibility:auto] [contain-intrinsic-size:auto_220px]"
        >
          <h2 className="border-b border-line px-3 py-2">
            <ProjectHead teamSlug={teamSlug} project={one} />
          </h2>
          {one.latest ? (
            <ul className="divide-y divide-line">
              {board.environments.map((environment) => (
                <li key={environment.id} className="grid grid-cols-[5.5rem_minmax(0,1fr)] gap-2 px-3 py-2">
                  <span className="pt-[3px] text-small text-ink-2 wrap-anywhere">{environment.name}</span>
                  <BoardCellView
                    {...{ teamSlug, board, environment, onPromote }}
                    project={one}
                    cell={findCell(one, environment.id) ?? { environmentId: environment.id }}
                  />
                </li>
              ))}
            </ul>
          ) : (
            <p className="px-3 py-2 text-ink-2">{t('board.noVersions')}</p>
          )}
        </section>
      ))}
    </div>
  )
}
