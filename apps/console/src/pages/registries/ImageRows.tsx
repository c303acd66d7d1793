import { useQueries } from '@tanstack/react-query'
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { imagePageQuery, imagePageSize } from '../../api/registry-browser.ts'
import { Button } from '../../components/Button.tsx'
import { describeError } from '../../errors/describe-error.ts'
import { ImageTags } from './ImageTags.tsx'
import { getPages, moveInList } from './image-pages.ts'

const rowHeightPx = 36

type Props = { source: { teamSlug: string; registryId: string }; filter: string; total: number }

/**
 * Registries have thousands of images: only the rows in view exist, and only their pages are requested. One row is reached with Tab, the others
 * from there with the arrow keys.
 */
export function ImageRows({ source: { teamSlug, registryId }, filter, total }: Props) {
  const { t } = useTranslation(['registries', 'common'])
  const [open, setOpen] = useState<string | null>(null)
  const [active, setActive] = useState(0)
  const box = useRef<HTMLDivElement>(null)
  const current = Math.min(active, total - 1)
  const rows = useVirtualizer({
    count: total,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeightPx,
    overscan: 8,
    // The row with the focus stays, so that scrolling does not lose it.
    rangeExtractor: (range) => [...new Set([...defaultRangeExtractor(range), current])].sort((a, b) => a - b),
  })
  // They update the range in view, which is read next.
  const items = rows.getVirtualItems()
  const pages = getPages(rows.range, imagePageSize, current)
  const queries = useQueries({ queries: pages.map((page) => imagePageQuery(teamSlug, registryId, filter, page)) })
  const names = new Map(pages.map((page, index) => [page, queries[index]?.data?.names]))
  const getName = (index: number) => names.get(Math.floor(index / imagePageSize))?.[index % imagePageSize]
  const failed = queries.find(({ error }) => error !== null)

  const findRow = (index: number) => box.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)
  const moveTo = (index: number) => {
    setActive(index)
    rows.scrollToIndex(index, { align: 'auto' })
    // The row exists after the list has been rendered with it.
    requestAnimationFrame(() => findRow(index)?.querySelector('button')?.focus({ preventScroll: true }))
  }
  return (
    <>
      <div ref={box} className="max-h-[min(36rem,70dvh)] overflow-y-auto overscroll-contain">
        <ul aria-label={t('images.title')} className="relative" style={{ height: rows.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const name = getName(index)
            return (
              <li
                key={name ?? index}
                ref={rows.measureElement}
                data-index={index}
                aria-setsize={total}
                aria-posinset={index + 1}
                className="absolute inset-x-0 top-0 border-b border-line"
                style={{ transform: `translateY(${start}px)` }}
              >
                <ImageButton
                  name={name}
                  isOpen={name !== undefined && open === name}
                  tabIndex={index === current ? 0 : -1}
                  onFocus={() => setActive(index)}
                  onMove={(key) => {
                    const target = moveInList(key, index, total)
                    if (target !== undefined) moveTo(target)
                    return target !== undefined
                  }}
                  onToggle={() => setOpen(name === undefined || open === name ? null : name)}
                />
                {name !== undefined && open === name && (
                  <ImageTags
                    teamSlug={teamSlug}
                    registryId={registryId}
                    image={name}
                    // Of a row at the lower edge they would be out of view.
                    onLoaded={() => findRow(index)?.scrollIntoView({ block: 'nearest' })}
                  />
                )}
              </li>
            )
          })}
        </ul>
      </div>
      {failed?.error && (
        <div role="status" className="flex flex-wrap items-center gap-2 border-t border-line px-3 py-2 text-ink-2">
          <span className="min-w-0 flex-1 basis-60">{describeError(failed.error).text}</span>
          <Button size="sm" onClick={() => void failed.refetch()}>
            {t('common:error.retry')}
          </Button>
        </div>
      )}
    </>
  )
}

type ButtonProps = {
  /** Undefined while its page is loading. */
  name: string | undefined
  isOpen: boolean
  tabIndex: number
  onFocus: () => void
  /** Moves the focus to another row, and returns whether the key does that. */
  onMove: (key: string) => boolean
  onToggle: () => void
}

function ImageButton({ name, isOpen, tabIndex, onFocus, onMove, onToggle }: ButtonProps) {
  const { t } = useTranslation('registries')
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <button
      type="button"
      tabIndex={tabIndex}
      aria-expanded={isOpen}
      aria-busy={name === undefined}
      onFocus={onFocus}
      onKeyDown={(event) => onMove(event.key) && event.preventDefault()}
      onClick={onToggle}
      className="flex h-9 w-full items-center gap-2 px-3 text-left hover:bg-hover focus-visible:-outline-offset-2"
    >
      <Chevron aria-hidden className="shrink-0 text-ink-3" />
      {name === undefined ? (
        <span className="skeleton block h-4 w-48">
          <span className="sr-only">{t('images.loading')}</span>
        </span>
      ) : (
        <code className="min-w-0 truncate font-strong" title={name}>
          {name}
        </code>
      )}
    </button>
  )
}
