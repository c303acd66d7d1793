import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { ChevronDown, ChevronRight, Container, PackageX, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { imagesQuery, tagsQuery } from '../../api/registry-browser.ts'
import { Box } from '../../components/Box.tsx'
import { IconButton } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { Tag } from '../../components/Tag.tsx'
import { NoMatches } from '../../table/NoMatches.tsx'
import { Pagination } from '../../table/Pagination.tsx'
import { sortTags } from '../versions/tags.ts'

/** The images that the registry lists, each with its tags on demand. Asked over the live channel. */
export function RegistryImages({ teamSlug, registry }: { teamSlug: string; registry: ResponseOf<'registries.get'> }) {
  const { t } = useTranslation('registries')
  const [text, setText] = useState('')
  const [page, setPage] = useState({ skip: 0, take: 10 })
  const [open, setOpen] = useState<string | null>(null)
  const listed = registry.type !== 'unchecked'
  const query = useQuery({ ...imagesQuery(teamSlug, registry.id, ''), enabled: listed })

  if (!listed) return <EmptyState icon={PackageX} title={t('images.uncheckedTitle')} text={t('images.uncheckedText')} />
  if (query.isError)
    return <ErrorState error={query.error} title={t('images.failed')} retry={() => void query.refetch()} />
  if (!query.data) return <SkeletonRows rows={6} />
  if (query.data.length === 0)
    return <EmptyState icon={Container} title={t('images.empty')} text={t('images.emptyText')} />

  const found = query.data.filter((name) => name.toLowerCase().includes(text.trim().toLowerCase()))
  const skip = page.skip < found.length ? page.skip : 0
  return (
    <Box
      title={t('images.title')}
      trailing={query.data.length}
      actions={
        <>
          <SearchBox value={text} onChange={setText} label={t('images.filter')} className="w-56 max-md:flex-1" />
          <IconButton
            icon={RotateCw}
            size="sm"
            label={t('images.reload')}
            busy={query.isFetching}
            onClick={() => void query.refetch()}
          />
        </>
      }
    >
      {found.length === 0 ? (
        <div className="p-3">
          <NoMatches total={query.data.length} onReset={() => setText('')} />
        </div>
      ) : (
        <ul aria-label={t('images.title')}>
          {found.slice(skip, skip + page.take).map((name) => (
            <li key={name} className="border-b border-line last:border-0">
              <button
                type="button"
                aria-expanded={open === name}
                onClick={() => setOpen(open === name ? null : name)}
                className="flex h-9 w-full items-center gap-2 px-3 text-left hover:bg-hover focus-visible:-outline-offset-2"
              >
                {open === name ? (
                  <ChevronDown aria-hidden className="text-ink-3" />
                ) : (
                  <ChevronRight aria-hidden className="text-ink-3" />
                )}
                <code className="font-strong">{name}</code>
              </button>
              {open === name && <ImageTags teamSlug={teamSlug} registryId={registry.id} image={name} />}
            </li>
          ))}
        </ul>
      )}
      {found.length > 5 && <Pagination {...page} skip={skip} total={found.length} onChange={setPage} />}
    </Box>
  )
}

/** More than these are found with the tag picker of a version. */
const shownMax = 60

function ImageTags({ teamSlug, registryId, image }: { teamSlug: string; registryId: string; image: string }) {
  const { t } = useTranslation('registries')
  const query = useQuery(tagsQuery(teamSlug, registryId, image))
  return (
    <div className="border-t border-line bg-sunken px-3 py-2.5">
      {query.isError ? (
        <ErrorState error={query.error} title={t('images.failed')} retry={() => void query.refetch()} />
      ) : !query.data ? (
        <span role="status" className="skeleton block h-5 w-64">
          <span className="sr-only">{t('images.tags')}</span>
        </span>
      ) : query.data.length === 0 ? (
        <p className="text-ink-2">{t('images.noTags')}</p>
      ) : (
        <ul aria-label={t('images.tags')} className="flex flex-wrap gap-x-4 gap-y-1.5">
          {sortTags(query.data, { by: 'date', direction: 'desc' })
            .slice(0, shownMax)
            .map((tag) => (
              <li key={tag.name} className="inline-flex items-center gap-1.5">
                <Tag>{tag.name}</Tag>
                {tag.created && <RelativeTime at={tag.created} className="text-small text-ink-2" />}
              </li>
            ))}
        </ul>
      )}
    </div>
  )
}
