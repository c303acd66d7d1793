import { limits, patterns } from '@crux/contract'
import { parseImageTag, shortImageTag } from '@crux/rules'
import { useQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type ImageTag, tagsQuery } from '../../api/registry-browser.ts'
import { useTagDetails } from '../../api/use-tag-details.ts'
import { Button } from '../../components/Button.tsx'
import { Chips } from '../../components/Chips.tsx'
import { cx } from '../../components/class-names.ts'
import { Dialog } from '../../components/Dialog.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Field, TextInput } from '../../components/Field.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { Pill } from '../../components/Tag.tsx'
import { newerTags, sortTags, type TagSort } from './tags.ts'
import type { VersionImage } from './use-version-live.ts'

type Props = { teamSlug: string; image: VersionImage; onPick: (tag: string) => void; onClose: () => void }

/** Picks a tag; picking applies at once. Registries that list nothing get a box to type into. */
export function TagPicker({ teamSlug, image, onPick, onClose }: Props) {
  const { t } = useTranslation('versions')
  const free = image.registry.type === 'unchecked'
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('tags.title', { name: image.config.name ?? image.name })}
      description={<code>{[image.registry.imageUrlPrefix, image.name].filter(Boolean).join('/')}</code>}
      width="wide:w-[520px]"
      initialFocus={(content) => content.querySelector('input')}
    >
      {free ? (
        <FreeTag tag={image.tag ?? ''} onPick={onPick} onClose={onClose} />
      ) : (
        <ListedTags teamSlug={teamSlug} image={image} onPick={onPick} onClose={onClose} />
      )}
    </Dialog>
  )
}

function FreeTag({ tag, onPick, onClose }: { tag: string; onPick: (tag: string) => void; onClose: () => void }) {
  const { t } = useTranslation('versions')
  const [text, setText] = useState(tag)
  const trimmed = text.trim()
  const valid = patterns.tagOrDigest.test(trimmed)
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!valid) return
        if (trimmed !== tag) onPick(trimmed)
        onClose()
      }}
    >
      <Field
        label={t('tags.free')}
        help={trimmed === '' ? t('tags.freeEmpty') : t('tags.freeHelp')}
        error={trimmed !== '' && !valid ? t('tags.invalid') : null}
      >
        <TextInput
          mono
          value={text}
          maxLength={limits.tagOrDigest.max}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      <div className="flex justify-end">
        <Button type="submit" variant="main" disabledReason={valid ? null : t('tags.freeEmpty')}>
          {t('tags.apply')}
        </Button>
      </div>
    </form>
  )
}

function ListedTags({ teamSlug, image, onPick, onClose }: Props) {
  const { t } = useTranslation('versions')
  const query = useQuery(tagsQuery(teamSlug, image.registry.id, image.name))
  const [text, setText] = useState('')
  const [sort, setSort] = useState<TagSort>({ by: 'date', direction: 'desc' })
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />
  if (!query.data) return <SkeletonRows rows={7} />
  if (query.data.length === 0) return <p className="text-ink-2">{t('tags.none')}</p>
  const needle = text.trim().toLowerCase()
  const { tag: current, digest } = parseImageTag(image.tag)
  const pick = (tag: string) => {
    if (tag !== image.tag) onPick(tag)
    onClose()
  }
  const rows = sortTags(
    query.data.filter((tag) => tag.name.toLowerCase().includes(needle)),
    sort,
  )
  return (
    <div className="grid gap-3">
      <SearchBox value={text} onChange={setText} label={t('tags.search')} className="w-full" />
      <div className="flex flex-wrap items-center gap-2">
        <Chips
          label={t('tags.sort')}
          value={sort.by}
          onChange={(by) => setSort({ ...sort, by })}
          options={[
            { value: 'date', label: t('tags.byDate') },
            { value: 'name', label: t('tags.byName') },
          ]}
        />
        <Chips
          label={t('tags.direction')}
          value={sort.direction}
          onChange={(direction) => setSort({ ...sort, direction })}
          options={[
            { value: 'desc', label: t('tags.descending') },
            { value: 'asc', label: t('tags.ascending') },
          ]}
        />
        <span className="ml-auto text-small text-ink-2 tabular-nums">{t('tags.count', { count: rows.length })}</span>
      </div>
      {digest && (
        <p className="text-ink-2">
          {t('tags.pinned')} <code title={digest}>{shortImageTag(digest)}</code>
        </p>
      )}
      {isPin(text.trim()) ? (
        <Button variant="main" className="justify-self-start" onClick={() => pick(text.trim())}>
          {t('tags.pin')}
        </Button>
      ) : rows.length === 0 ? (
        <p className="text-ink-2">{t('tags.nothing')}</p>
      ) : (
        <TagList
          source={{ teamSlug, registryId: image.registry.id, image: image.name }}
          tags={rows}
          current={current}
          newer={newerTags(query.data, current)}
          onPick={pick}
        />
      )}
    </div>
  )
}

/** A digest, with or without a tag: no registry lists digests, so they are pasted. */
const isPin = (text: string) => patterns.tagOrDigest.test(text) && parseImageTag(text).digest !== null

type ListProps = {
  source: { teamSlug: string; registryId: string; image: string }
  tags: ImageTag[]
  current: string | null
  newer: ReadonlySet<string>
  onPick: (tag: string) => void
}

/** Hubs list thousands of tags: only the rows in view exist, and only their dates are requested. */
function TagList({ source, tags, current, newer, onPick }: ListProps) {
  const { t } = useTranslation('versions')
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: tags.length,
    getScrollElement: () => box.current,
    estimateSize: () => 36,
    overscan: 12,
  })
  // They update the range in view, which is read next.
  const items = rows.getVirtualItems()
  const { withDetails } = useTagDetails(source, tags, rows)
  return (
    <div ref={box} className="max-h-[min(380px,45dvh)] overflow-y-auto rounded-box border border-line">
      <ul aria-label={t('tags.free')} className="relative" style={{ height: rows.getTotalSize() }}>
        {items.map((row) => {
          const tag = tags[row.index]
          if (!tag) return null
          const { created } = withDetails(tag)
          return (
            <li key={tag.name} className="absolute inset-x-0 top-0" style={{ transform: `translateY(${row.start}px)` }}>
              <button
                type="button"
                aria-pressed={tag.name === current}
                onClick={() => onPick(tag.name)}
                className={cx(
                  'flex h-9 w-full items-center gap-2 border-b border-line px-3 text-left hover:bg-hover focus-visible:-outline-offset-2',
                  tag.name === current && 'bg-accent-soft',
                )}
              >
                <code className="min-w-0 truncate font-strong">{tag.name}</code>
                {tag.name === current && <Pill tone="accent">{t('tags.current')}</Pill>}
                {newer.has(tag.name) && <Pill tone="past">{t('tags.new')}</Pill>}
                <span className="ml-auto shrink-0 text-small text-ink-2">
                  {created && <RelativeTime at={created} />}
                </span>
              </button>
            </li>
          )
        })}
      </ul>
    </div>
  )
}
