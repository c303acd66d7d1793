import { memo } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from '../class-names.ts'
import { absoluteTime } from '../relative-time.ts'
import type { LogLine } from './log-buffer.ts'
import { getLevel } from './log-level.ts'
import { splitAtMatches } from './log-search.ts'
import { pieces } from './terminal-text.ts'

/** What a browser can lay out in one line without stalling. */
const drawnMax = 8_000

type Props = {
  line: LogLine
  wrap: boolean
  times: boolean
  /** Characters that the longest source takes; 0 = no sources. */
  sourceWidth: number
  query: string
  mark: 'none' | 'current' | 'selected'
  /** A click on the time links to this line, or with Shift ends a selection. */
  onPick: (line: LogLine, extend: boolean) => void
}

/** One line: time, source, text. Its text is untrusted and is only rendered as text nodes. */
export const LogRow = memo(function LogRow({ line, wrap, times, sourceWidth, query, mark, onPick }: Props) {
  const { t } = useTranslation('log')
  if (line.skipped)
    return (
      <div className="border-y border-dashed border-line-strong px-3 text-progress">
        {t('skipped', { count: line.skipped })}
      </div>
    )
  const level = line.level === undefined || line.level === 'info' ? getLevel(line.text) : line.level
  return (
    <div
      data-level={level}
      className={cx(
        'group/line flex px-3',
        wrap ? 'w-full' : 'w-max min-w-full',
        mark === 'none' ? levels[level ?? 'info'] : marks[mark],
      )}
    >
      {times && (
        <button
          type="button"
          // Not a stop for Tab: a log has hundreds of them. By keyboard, the search leads to a line and links to it.
          tabIndex={-1}
          title={t('link', { time: line.at ? absoluteTime(line.at) : t('noTime') })}
          onClick={(event) => onPick(line, event.shiftKey)}
          className="mr-3 shrink-0 self-start rounded-sm text-ink-3 tabular-nums select-none hover:text-accent"
        >
          {clock(line.at)}
        </button>
      )}
      {sourceWidth > 0 && (
        <span
          className="mr-3 shrink-0 truncate text-accent max-md:hidden"
          style={{ width: `${sourceWidth}ch` }}
          title={line.source}
        >
          {line.source}
        </span>
      )}
      <span dir="ltr" className={cx('min-w-0 flex-1', wrap ? 'wrap-anywhere whitespace-pre-wrap' : 'whitespace-pre')}>
        <Text text={line.text} query={query} />
        {line.text.length > drawnMax && (
          <span className="text-ink-3"> {t('cut', { count: line.text.length - drawnMax })}</span>
        )}
      </span>
    </div>
  )
})

function Text({ text, query }: { text: string; query: string }) {
  return pieces(text.length > drawnMax ? text.slice(0, drawnMax) : text).map((piece, place) => (
    <span key={place} className={piece.className}>
      {query === ''
        ? piece.text
        : splitAtMatches(piece.text, query).map((part, index) =>
            index % 2 === 0 ? (
              part
            ) : (
              <mark key={index} className="rounded-sm bg-accent text-accent-ink">
                {part}
              </mark>
            ),
          )}
    </span>
  ))
}

/** HH:mm:ss.SSS in the reader's time zone; the day is in the tooltip. */
export function clock(at: number): string {
  if (!at) return '            '
  const date = new Date(at)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

const levels = { info: '', warn: 'tinted-progress', error: 'tinted-failed' }
const marks = { current: 'bg-accent-soft outline-1 outline-accent -outline-offset-1', selected: 'bg-accent-soft' }
