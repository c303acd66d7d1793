import { useTranslation } from 'react-i18next'
import { cx } from '../../components/class-names.ts'
import { Tooltip } from '../../components/Tooltip.tsx'
import { type Bar, type DayCount, toBars } from './day-bars.ts'

type Props = {
  range: { from: Date; to: Date }
  days: readonly DayCount[] | undefined
  onPick: (day: { from: string; to: string }) => void
}

/** How much happened on each day; a bar is a button that narrows the list to its day. */
export function DayBars({ range, days, onPick }: Props) {
  const { t, i18n } = useTranslation('audit')
  const bars = toBars(range, days ?? [])
  if (!bars || bars.length < 2) return null
  const most = Math.max(1, ...bars.map((bar) => bar.accepted + bar.refused))
  const format = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', day: 'numeric', month: 'short' })
  const label = (bar: Bar) =>
    t('bars.day', {
      day: format.format(new Date(bar.from)),
      count: bar.accepted + bar.refused,
      refused: bar.refused,
    })
  // Each day has a label if there is room for it.
  const step = Math.ceil(bars.length / 14)
  return (
    <section aria-label={t('bars.label')} className="mb-3 rounded-box border border-line bg-surface px-3 pt-3 pb-1.5">
      <ol className="flex h-[76px] items-stretch gap-[3px]">
        {bars.map((bar, index) => (
          <li key={bar.day} className="min-w-0 flex-1">
            <Tooltip content={label(bar)}>
              <button
                type="button"
                aria-label={label(bar)}
                onClick={() => onPick(bar)}
                className="flex h-full w-full flex-col rounded-sm hover:bg-hover"
              >
                <span className="flex min-h-0 w-full flex-1 flex-col justify-end">
                  <Part share={bar.refused / most} className="rounded-t-sm bg-failed" />
                  <Part share={bar.accepted / most} className={cx('bg-accent', bar.refused === 0 && 'rounded-t-sm')} />
                </span>
                <span
                  className={cx(
                    'h-5 w-full overflow-hidden border-t border-line text-center text-small leading-5 text-ink-2 tabular-nums max-md:text-clip',
                    index % step !== 0 && 'text-transparent!',
                  )}
                >
                  {new Date(bar.from).getDate()}
                </span>
              </button>
            </Tooltip>
          </li>
        ))}
      </ol>
    </section>
  )
}

/** A minimum height keeps a day with few entries visible. */
function Part({ share, className }: { share: number; className: string }) {
  if (share === 0) return null
  return <span aria-hidden className={cx('w-full', className)} style={{ height: `max(2px, ${share * 100}%)` }} />
}
