import { useQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type ImageTag, tagsQuery } from '../../api/registry-browser.ts'
import { useTagDetails } from '../../api/use-tag-details.ts'
import { CopyButton } from '../../components/CopyButton.tsx'
import { RegistryProblem } from '../../components/RegistryProblem.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { Tag } from '../../components/Tag.tsx'
import { describeError } from '../../errors/describe-error.ts'
import { bytesText } from '../deployments/bytes.ts'
import { sortTags } from '../versions/tags.ts'

/** Fewer tags need no search. */
const searchedMin = 10

type Source = { teamSlug: string; registryId: string; image: string }
type Props = Source & {
  /** Called when the box has its height: with the tags, or with the reason why they are missing. */
  onLoaded: () => void
}

/** The tags of an image, the newest first, with what the registry tells about each. */
export function ImageTags({ teamSlug, registryId, image, onLoaded }: Props) {
  const { t } = useTranslation('registries')
  const [text, setText] = useState('')
  const query = useQuery(tagsQuery(teamSlug, registryId, image))
  const notify = useEffectEvent(onLoaded)
  useEffect(() => {
    if (!query.isPending) notify()
  }, [query.isPending])
  const sorted = useMemo(() => sortTags(query.data ?? [], { by: 'date', direction: 'desc' }), [query.data])
  const wanted = text.trim().toLowerCase()
  const found = sorted.filter((tag) => tag.name.toLowerCase().includes(wanted))
  return (
    <div className="grid gap-2 border-t border-line bg-sunken px-3 py-2.5">
      {query.isError ? (
        <RegistryProblem error={query.error} retry={() => void query.refetch()} />
      ) : !query.data ? (
        <span role="status" className="skeleton block h-5 w-64">
          <span className="sr-only">{t('images.tags')}</span>
        </span>
      ) : query.data.length === 0 ? (
        <p className="text-ink-2">{t('images.noTags')}</p>
      ) : (
        <>
          {sorted.length >= searchedMin && (
            <div className="flex flex-wrap items-center gap-2">
              <SearchBox
                value={text}
                onChange={setText}
                label={t('images.filterTags')}
                className="w-56 max-md:flex-1"
              />
              <span role="status" className="text-small text-ink-2 tabular-nums">
                {t('images.tagCount', { count: found.length })}
              </span>
            </div>
          )}
          {found.length === 0 ? (
            <p className="text-ink-2">{t('images.noTagFound')}</p>
          ) : (
            <TagRows source={{ teamSlug, registryId, image }} tags={found} />
          )}
        </>
      )}
    </div>
  )
}

/** Images have thousands of tags: only the rows in view exist, and only their details are requested. */
function TagRows({ source, tags }: { source: Source; tags: ImageTag[] }) {
  const { t } = useTranslation('registries')
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: tags.length,
    getScrollElement: () => box.current,
    estimateSize: () => 32,
    overscan: 12,
  })
  // They update the range in view, which is read next.
  const items = rows.getVirtualItems()
  const { withDetails, error } = useTagDetails(source, tags, rows)
  return (
    <>
      <div
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached with the keyboard
        tabIndex={0}
        className="max-h-80 overflow-y-auto focus-visible:-outline-offset-2"
      >
        <ul aria-label={t('images.tags')} className="relative" style={{ height: rows.getTotalSize() }}>
          {items.map((row) => {
            const tag = tags[row.index]
            if (!tag) return null
            return (
              <li
                key={tag.name}
                aria-setsize={tags.length}
                aria-posinset={row.index + 1}
                className="absolute inset-x-0 top-0 flex h-8 items-center gap-3"
                style={{ transform: `translateY(${row.start}px)` }}
              >
                <TagRow tag={withDetails(tag)} />
              </li>
            )
          })}
        </ul>
      </div>
      {error && (
        <p role="status" className="text-small text-ink-2">
          {describeError(error).text}
        </p>
      )}
    </>
  )
}

function TagRow({ tag: { name, created, digest, size, platforms } }: { tag: ImageTag }) {
  return (
    <>
      <span className="flex min-w-0 flex-1 items-center" title={name}>
        <Tag className="truncate">{name}</Tag>
      </span>
      {digest && (
        <span className="flex items-center gap-1 text-small text-ink-2 max-md:hidden">
          <code title={digest}>{digest.replace(/^sha256:/, '').slice(0, 12)}</code>
          <CopyButton text={digest} />
        </span>
      )}
      {platforms && platforms.length > 0 && (
        <span className="truncate text-small text-ink-2 max-md:hidden" title={platforms.join(', ')}>
          {platforms.slice(0, 3).join(', ')}
          {platforms.length > 3 && ' …'}
        </span>
      )}
      {typeof size === 'number' && (
        <span className="shrink-0 text-small text-ink-2 tabular-nums">{bytesText(size)}</span>
      )}
      {created && <RelativeTime at={created} className="shrink-0 text-small text-ink-2" />}
    </>
  )
}
