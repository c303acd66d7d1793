import { ArrowDown, Clock, Download, Pause, Search, WrapText } from 'lucide-react'
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
import { Button, ButtonAnchor, IconButton } from '../Button.tsx'
import { CopyButton } from '../CopyButton.tsx'
import { cx } from '../class-names.ts'
import { LogRow } from './LogRow.tsx'
import { LogSearchBar } from './LogSearchBar.tsx'
import type { LogBuffer, LogLine } from './log-buffer.ts'
import { download, lineFrom, setLineHash, textOf, timeOfHash } from './log-text.ts'
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
    const place = buffer.indexOf(number)
    rows.scrollTo(place)
    const line = buffer.at(place)
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
    event.clipboardData.setData('text/plain', textOf(buffer, picked))
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
      <header className="flex min-h-10 flex-wrap items-center gap-2 border-b border-line px-3 py-1">
        <h2 className="mr-auto font-strong">{title}</h2>
        {actions && <div className="min-w-0 max-md:order-1 max-md:basis-full">{actions}</div>}
        <div className="flex items-center gap-2">
          <span className="flex">
            <IconButton
              icon={Search}
              label={t('search')}
              size="sm"
              aria-pressed={searching}
              onClick={() => (searching ? closeSearch() : setSearching(true))}
            />
            <Toggle icon={WrapText} label={t('wrap')} on={options.wrap} onChange={(wrap) => setOptions({ wrap })} />
            <Toggle icon={Clock} label={t('times')} on={options.times} onChange={(times) => setOptions({ times })} />
            {!whole && (
              <IconButton
                icon={Download}
                label={t('download')}
                size="sm"
                disabledReason={buffer.size === 0 && t('nothing')}
                onClick={() => download(buffer, fileName)}
              />
            )}
          </span>
          {whole && (
            <ButtonAnchor href={whole} download={`${fileName}.log`} icon={Download} size="sm">
              {t('downloadWhole')}
            </ButtonAnchor>
          )}
        </div>
      </header>
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
          <div className="relative" style={{ height: rows.height + 16 }}>
            {rows.rows.map(({ index, top }) => {
              const line = buffer.at(index)
              if (!line) return null
              const mark =
                line.number === search.currentNumber
                  ? 'current'
                  : line.number >= low && line.number <= high
                    ? 'selected'
                    : 'none'
              return (
                <div
                  key={line.number}
                  data-index={index}
                  ref={rows.measure}
                  className={cx('absolute left-0', options.wrap ? 'w-full' : 'h-5 min-w-full')}
                  style={{ transform: `translateY(${top + 8}px)` }}
                >
                  <LogRow
                    line={line}
                    wrap={options.wrap}
                    times={options.times}
                    sourceWidth={sourceWidth}
                    query={search.query}
                    mark={mark}
                    onPick={pick}
                  />
                </div>
              )
            })}
          </div>
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
        {picked && <CopyButton text={textOf(buffer, picked)} label={t('copy', { count: high - low + 1 })} />}
        <span className="ml-auto tabular-nums">
          {t('count', { count: buffer.size })}
          {lost > 0 && `, ${t('dropped', { count: lost })}`}
        </span>
      </footer>
    </section>
  )
}

function Toggle({
  icon,
  label,
  on,
  onChange,
}: {
  icon: typeof Clock
  label: string
  on: boolean
  onChange: (on: boolean) => void
}) {
  return (
    <IconButton
      icon={icon}
      label={label}
      size="sm"
      aria-pressed={on}
      className={on ? 'bg-hover text-ink!' : undefined}
      onClick={() => onChange(!on)}
    />
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
