import { cx } from '../class-names.ts'
import { LogRow } from './LogRow.tsx'
import type { LogBuffer, LogLine } from './log-buffer.ts'
import type { useLogViewOptions } from './log-view-options.ts'
import type { LogRows } from './use-log-rows.ts'

type Props = {
  buffer: LogBuffer
  rows: LogRows
  options: ReturnType<typeof useLogViewOptions>[0]
  sourceWidth: number
  query: string
  /** The number of the line that the search is at. */
  currentNumber: number
  isSelected: (line: LogLine) => boolean
  onPick: (line: LogLine, extend: boolean) => void
}

/** The lines in view, each at its place among all. */
export function LogLines({ buffer, rows, options, sourceWidth, query, currentNumber, isSelected, onPick }: Props) {
  return (
    <div className="relative" style={{ height: rows.height + 16 }}>
      {rows.rows.map(({ index, top }) => {
        const line = buffer.at(index)
        if (!line) return null
        const mark = line.number === currentNumber ? 'current' : isSelected(line) ? 'selected' : 'none'
        return (
          <div
            key={line.number}
            data-index={index}
            ref={rows.measure}
            className={cx('absolute left-0', options.wrap ? 'w-full' : 'h-5 min-w-full')}
            style={{ transform: `translateY(${top + 8}px)` }}
          >
            <LogRow {...options} {...{ line, sourceWidth, query, mark, onPick }} />
          </div>
        )
      })}
    </div>
  )
}
