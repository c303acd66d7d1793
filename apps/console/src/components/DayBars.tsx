import { cx } from './class-names.ts'
import { Tooltip } from './Tooltip.tsx'

/** A local day such as `2026-11-21`, with what went well and what did not. */
export type DayBar = { day: string; good: number; bad: number }

type Props<B extends DayBar> = {
  label: string
  bars: readonly B[]
  /** The text of a bar, for the tooltip and for screen readers. */
  describe: (bar: B) => string
  /** Makes every bar a button. */
  onPick?: ((bar: B) => void) | undefined
  /** The colour of what went well. */
  tone?: 'accent' | 'running'
}

/** One bar per day. The part that went wrong is hatched, so that its colour is not the only sign. */
export function DayBars<B extends DayBar>({ label, bars, describe, onPick, tone = 'accent' }: Props<B>) {
  const most = Math.max(1, ...bars.map((bar) => bar.good + bar.bad))
  // Each day has a label if there is room for it.
  const step = Math.ceil(bars.length / 14)
  return (
    <ol aria-label={label} className="flex h-[76px] min-w-0 items-stretch gap-[3px] max-md:gap-[2px]">
      {bars.map((bar, index) => {
        const text = describe(bar)
        const content = (
          <>
            <span className="flex min-h-0 w-full flex-1 flex-col justify-end">
              <Part share={bar.bad / most} className="rounded-t-sm bg-failed" hatched />
              <Part
                share={bar.good / most}
                className={cx(tone === 'accent' ? 'bg-accent' : 'bg-running', bar.bad === 0 && 'rounded-t-sm')}
              />
            </span>
            <span
              aria-hidden
              className={cx(
                'flex h-5 w-full justify-center border-t border-line text-small leading-5 whitespace-nowrap text-ink-2 tabular-nums',
                index % step !== 0 && 'text-transparent!',
              )}
            >
              {Number(bar.day.slice(-2))}
            </span>
          </>
        )
        return (
          <li key={bar.day} className="min-w-0 flex-1">
            <Tooltip content={text}>
              {onPick ? (
                <button
                  type="button"
                  aria-label={text}
                  onClick={() => onPick(bar)}
                  className={cx(column, 'rounded-sm')}
                >
                  {content}
                </button>
              ) : (
                <div className={column}>
                  <span className="sr-only">{text}</span>
                  {content}
                </div>
              )}
            </Tooltip>
          </li>
        )
      })}
    </ol>
  )
}

const column = 'flex h-full w-full flex-col hover:bg-hover'
const hatch = 'repeating-linear-gradient(135deg, transparent 0 3px, var(--surface) 3px 4px)'

/** A minimum height keeps a day with few entries visible. */
function Part({ share, className, hatched }: { share: number; className: string; hatched?: boolean }) {
  if (share === 0) return null
  return (
    <span
      aria-hidden
      className={cx('w-full', className)}
      style={{ height: `max(2px, ${share * 100}%)`, ...(hatched && { backgroundImage: hatch }) }}
    />
  )
}
