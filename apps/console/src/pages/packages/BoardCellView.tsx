import { ArrowRight, Rocket } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useDenied } from '../../api/me.ts'
import { Button, IconButton } from '../../components/Button.tsx'
import { cx } from '../../components/class-names.ts'
import { State } from '../../components/State.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { links } from '../../routing/links.ts'
import {
  type Board,
  type BoardCell,
  type BoardEnvironment,
  type BoardProject,
  findOffer,
  type PromotionTarget,
} from './board.ts'
import { RunningState } from './RunningState.tsx'
import { useChanged } from './use-changed.ts'

type Props = {
  teamSlug: string
  board: Board
  project: BoardProject
  environment: BoardEnvironment
  cell: BoardCell
  onPromote: (target: PromotionTarget) => void
}

/** One project in one environment: what runs, what was tried last, and what can be promoted to it. */
export function BoardCellView({ teamSlug, board, project: row, environment, cell, onPromote }: Props) {
  const { t } = useTranslation('packages')
  const denied = useDenied('packages.promote')
  const { running, latest } = cell
  const { chainId, project } = row
  const offer = findOffer(board, row, cell)
  const open = (versionId?: string) => onPromote({ chainId, project, environment, versionId })
  const { key, className } = useChanged(`${running?.deploymentId} ${running?.releaseNumber} ${latest?.status}`)
  const names = { project: project.name, environment: environment.name }
  return (
    <div className="grid min-w-0 content-start gap-1">
      <div key={key} className={cx('flex min-h-[26px] min-w-0 items-center gap-2 rounded-sm', className)}>
        {running ? (
          <>
            <TextLink
              {...links.deployment(teamSlug, running.deploymentId)}
              className="mono min-w-0 truncate font-semibold text-ink!"
              title={running.version.name}
            >
              {running.version.name}
            </TextLink>
            <RunningState node={environment.node} />
          </>
        ) : (
          <span className="text-ink-3">{t('board.nothing')}</span>
        )}
        <span className="ml-auto shrink-0">
          {running ? (
            <IconButton
              size="sm"
              icon={Rocket}
              label={t('board.deployTo', names)}
              disabledReason={denied}
              onClick={() => open()}
            />
          ) : (
            <Button
              size="sm"
              icon={Rocket}
              aria-label={t('board.deployTo', names)}
              disabledReason={denied}
              onClick={() => open()}
            >
              {t('board.deploy')}
            </Button>
          )}
        </span>
      </div>
      {running && (
        <p className="truncate text-small text-ink-2" title={running.deployedBy}>
          <TimeAgo at={running.deployedAt} /> {t('board.by', { name: running.deployedBy })}
        </p>
      )}
      {latest && <LatestDeployment teamSlug={teamSlug} latest={latest} />}
      {offer && (
        <p className="flex min-w-0 items-center gap-2 rounded-md bg-accent-soft py-0.5 pr-0.5 pl-2 text-small">
          <span className="min-w-0 flex-1 wrap-anywhere">
            {offer.kind === 'promote'
              ? t('board.newer', { version: offer.version.name, environment: offer.from.name })
              : t('board.isLatest', { version: offer.version.name })}
          </span>
          <Button
            size="sm"
            icon={offer.kind === 'promote' ? ArrowRight : Rocket}
            aria-label={t(offer.kind === 'promote' ? 'board.promoteTo' : 'board.deployVersionTo', {
              ...names,
              version: offer.version.name,
            })}
            disabledReason={denied}
            onClick={() => open(offer.version.id)}
          >
            {offer.kind === 'promote' ? t('board.promote') : t('board.deploy')}
          </Button>
        </p>
      )}
    </div>
  )
}

/** The newest deployment where it is another one than what runs: in preparation, in progress or failed. */
function LatestDeployment({ teamSlug, latest }: { teamSlug: string; latest: NonNullable<BoardCell['latest']> }) {
  const { deploymentId, status, version, outcome } = latest
  const link =
    status === 'preparing' ? links.deployment(teamSlug, deploymentId) : links.deploymentProgress(teamSlug, deploymentId)
  return (
    <p className="flex min-w-0 items-center gap-2 text-small">
      <State kind="deployment" value={status} />
      <TextLink {...link} className="mono min-w-0 truncate" title={outcome ?? version.name}>
        {version.name}
      </TextLink>
      {outcome && (
        <span className="min-w-0 flex-1 truncate text-ink-2" title={outcome}>
          {outcome}
        </span>
      )}
    </p>
  )
}
