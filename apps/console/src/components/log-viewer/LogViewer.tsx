import { ArrowDown, Pause } from 'lucide-react'
import {
  type ClipboardEvent,
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../Button.tsx'
import { CopyButton } from '../CopyButton.tsx'
import { cx } from '../class-names.ts'
import { LogHeader } from './LogHeader.tsx'
import { LogLines } from './LogLines.tsx'
import { LogSearchBar } from './LogSearchBar.tsx'
import type { LogBuffer, LogLine } from './log-buffer.ts'
import { getText, lineFrom, setLineHash, timeOfHash } from './log-text.ts'
import { useLogViewOptions } from './log-view-options.ts'
import { useLogRows } from './use-log-rows.ts'
import { useLogSearch } from './use-log-search.ts'

type Props = {
  buffer: LogBuffer
  title: string
  /** Name of the downloaded file, without its ending. */
  fileName: string
  /** Address of the log from its first line on, where the lines here are only its end. */
  whole?: string | undefined
  /** Between title and icons: chips of sources, a line count. */
  actions?: ReactNode
  /** Characters that the longest source takes; absent: lines have no sources. */
  sourceWidth?: number
  /** Whether lines wrap before the user chooses. */
  wrapsAtFirst?: boolean
  /** Shown while there is no line. */
  empty: ReactNode
  /** False once no more lines will come. */
  live?: boolean
  className?: string
}

/** The one view of logs: follows the newest line, pauses when scrolled up, and stays smooth however much comes. */
export function LogViewer({
  buffer,
  title,
  fileName,
  whole,
  actions,
  sourceWidth = 0,
  wrapsAtFirst = false,
  empty,
  live = true,
  className,
}: Props) {
  const { t } = useTranslation('log')
  const [options, setOptions] = useLogViewOptions(wrapsAtFirst)
  const [searching, setSearching] = useState(false)
  const [picked, setPicked] = useState<{ from: number; to: number } | null>(null)
  const scroller = useRef<HTMLElement>(null)
  const rows = useLogRows(buffer, scroller, options.wrap)
  const pick = useCallback((line: LogLine, extend: boolean) => {
    setPicked((before) => ({ from: extend && before ? before.from : line.number, to: line.number }))
    if (!extend) setLineHash(line)
  }, [])
  const search = useLogSearch(buffer, (number) => {
    const position = buffer.indexOf(number)
    rows.scrollTo(position)
    const line = buffer.at(position)
    if (line) pick(line, false)
  })
  useLinkedLine(buffer, (line) => {
    setPicked({ from: line.number, to: line.number })
    rows.scrollTo(buffer.indexOf(line.number))
  })

  const closeSearch = () => {
    setSearching(false)
    search.setQuery('')
    scroller.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'f' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      setSearching(true)
    }
    if (event.key === 'End') {
      event.preventDefault()
      rows.follow()
    }
    if (event.key === 'Escape' && picked) {
      event.stopPropagation()
      setPicked(null)
    }
  }
  // The drawn lines hold times and sources too; a copied selection is put together from the lines themselves.
  const onCopy = (event: ClipboardEvent) => {
    if (!picked || picked.from === picked.to || !document.getSelection()?.isCollapsed) return
    event.preventDefault()
    event.clipboardData.setData('text/plain', getText(buffer, picked))
  }
  const low = picked ? Math.min(picked.from, picked.to) : 0
  const high = picked ? Math.max(picked.from, picked.to) : -1
  const lost = buffer.first - 1

  return (
    <section
      aria-label={title}
      onKeyDown={onKeyDown}
      className={cx('flex min-w-0 flex-col overflow-hidden rounded-box border border-line bg-surface', className)}
    >
      <LogHeader
        {...{ title, actions, buffer, fileName, whole, options, setOptions }}
        isSearching={searching}
        onSearch={() => (searching ? closeSearch() : setSearching(true))}
      />
      {searching && (
        <LogSearchBar
          query={search.query}
          onQuery={search.setQuery}
          total={search.total}
          current={search.current}
          onStep={search.step}
          onClose={closeSearch}
        />
      )}
      <div className="relative min-h-0 flex-1">
        <section
          ref={scroller}
          aria-label={t('lines')}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
          tabIndex={0}
          onCopy={onCopy}
          className="mono absolute inset-0 overflow-auto bg-sunken outline-offset-[-2px] [overflow-anchor:none]"
        >
          <LogLines
            {...{ buffer, rows, options, sourceWidth }}
            query={search.query}
            currentNumber={search.currentNumber}
            isSelected={(line) => line.number >= low && line.number <= high}
            onPick={pick}
          />
        </section>
        {buffer.size === 0 && <div className="pointer-events-none absolute inset-x-3 top-3 text-ink-2">{empty}</div>}
        {!rows.following && (
          <div className="absolute inset-x-0 bottom-3 flex justify-center">
            <Button size="sm" icon={ArrowDown} onClick={rows.follow} className="shadow-lift">
              {t('jump')}
            </Button>
          </div>
        )}
      </div>
      <footer className="flex min-h-9 items-center gap-2 border-t border-line px-3 text-small text-ink-2">
        {rows.following ? <ArrowDown aria-hidden className="size-3.5!" /> : <Pause aria-hidden className="size-3.5!" />}
        <span role="status">{rows.following ? t(live ? 'following' : 'atEnd') : t('paused')}</span>
        {picked && <CopyButton text={getText(buffer, picked)} label={t('copy', { count: high - low + 1 })} />}
        <span className="ml-auto tabular-nums">
          {t('count', { count: buffer.size })}
          {lost > 0 && `, ${t('dropped', { count: lost })}`}
        </span>
      </footer>
    </section>
  )
}

/** An address with a line's time opens at that line, as soon as it has come. */
function useLinkedLine(buffer: LogBuffer, show: (line: LogLine) => void): void {
  const wanted = useRef(timeOfHash())
  const latest = useRef(show)
  latest.current = show
  useEffect(() => {
    const look = () => {
      if (wanted.current === 0) return
      const line = lineFrom(buffer, wanted.current)
      if (!line) return
      wanted.current = 0
      latest.current(line)
    }
    look()
    return buffer.subscribe(look)
  }, [buffer])
}
