import { useTranslation } from 'react-i18next'
import { cx } from '../../components/class-names.ts'
import { useNow } from '../../components/RelativeTime.tsx'
import { duration, relativeTime } from '../../components/relative-time.ts'
import { Tooltip } from '../../components/Tooltip.tsx'
import { getLongestMs, type RunBar, toRunBars } from './run-bars.ts'
import type { Run } from './run-queries.ts'

type Props = { runs: readonly Run[]; onPick: (run: Run) => void }

/** How long the last runs took and how they ended; a bar is a button that shows its run. One or two runs are read faster in the list. */
export function RunBars({ runs, onPick }: Props) {
  const { t } = useTranslation(['pipelines', 'common'])
  const now = useNow()
  if (runs.length < 3) return null
  const bars = toRunBars(runs, now)
  const longest = getLongestMs(runs)
  const label = ({ run, durationMs }: RunBar) =>
    t(run.status === 'unknown' ? 'bars.unknown' : 'bars.run', {
      status: t(`common:state.pipeline.${run.status}`),
      duration: duration(durationMs),
      ago: relativeTime(Date.parse(run.startedAt), now),
    })
  return (
    <figure aria-label={t('bars.label', { count: bars.length })} className="border-b border-line px-3 pt-3 pb-2">
      <ol className="flex h-[64px] items-stretch gap-[3px] border-b border-line">
        {bars.map((bar) => (
          <li key={bar.run.id} className="max-w-9 min-w-0 flex-1">
            <Tooltip content={label(bar)}>
              <button
                type="button"
                aria-label={label(bar)}
                onClick={() => onPick(bar.run)}
                className="flex h-full w-full flex-col justify-end rounded-sm hover:bg-hover"
              >
                <span
                  aria-hidden
                  className={cx('w-full rounded-t-sm', fills[bar.run.status])}
                  style={{ height: `max(4px, ${bar.share * 100}%)` }}
                />
              </button>
            </Tooltip>
          </li>
        ))}
      </ol>
      <figcaption className="flex flex-wrap items-center gap-x-4 gap-y-1 pt-1.5 text-small text-ink-2">
        {(['successful', 'failed', 'running', 'unknown'] as const)
          .filter((status) => runs.some((run) => toLegend(run.status) === status))
          .map((status) => (
            <span key={status} className="inline-flex items-center gap-1.5">
              <span aria-hidden className={cx('size-2.5 rounded-sm', fills[status])} />
              {t(`bars.legend.${status}`)}
            </span>
          ))}
        {longest > 0 && (
          <span className="ml-auto tabular-nums">{t('bars.longest', { duration: duration(longest) })}</span>
        )}
      </figcaption>
    </figure>
  )
}

const toLegend = (status: Run['status']) => (status === 'queued' ? 'running' : status)

/** The pattern tells the result where the colour does not. */
const fills: Record<Run['status'], string> = {
  successful: 'bg-running',
  failed:
    'bg-[repeating-linear-gradient(135deg,var(--state-failed)_0_3px,transparent_3px_5px)] ring-1 ring-failed ring-inset',
  running: 'tinted-progress ring-1 ring-progress ring-inset',
  queued: 'tinted-progress ring-1 ring-progress ring-inset',
  unknown: 'bg-[repeating-linear-gradient(0deg,var(--state-idle)_0_1px,transparent_1px_3px)]',
}
