import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { ChevronDown, ChevronRight, Container, PackageX, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { imagePageQuery } from '../../api/registry-browser.ts'
import { Box } from '../../components/Box.tsx'
import { IconButton } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { Pagination } from '../../table/Pagination.tsx'
import { ImageTags } from './ImageTags.tsx'
import { RegistryProblem } from './RegistryProblem.tsx'

/** The images that the registry lists, each with its tags on demand. Asked over the live channel. */
export function RegistryImages({ teamSlug, registry }: { teamSlug: string; registry: ResponseOf<'registries.get'> }) {
  const { t } = useTranslation('registries')
  const [text, setText] = useState('')
  const [page, setPage] = useState({ skip: 0, take: 10 })
  const [open, setOpen] = useState<string | null>(null)
  const listed = registry.type !== 'unchecked'
  const query = useQuery({
    ...imagePageQuery(teamSlug, registry.id, text.trim(), page),
    enabled: listed,
    placeholderData: (before) => before,
  })

  if (!listed) return <EmptyState icon={PackageX} title={t('images.uncheckedTitle')} text={t('images.uncheckedText')} />
  if (query.isError) return <RegistryProblem error={query.error} retry={() => void query.refetch()} />
  if (!query.data) return <SkeletonRows rows={6} />
  const { names, total } = query.data
  if (total === 0 && text === '')
    return <EmptyState icon={Container} title={t('images.empty')} text={t('images.emptyText')} />

  return (
    <Box
      title={t('images.title')}
      trailing={total}
      actions={
        <>
          <SearchBox
            value={text}
            onChange={(value) => {
              setText(value)
              setPage({ ...page, skip: 0 })
            }}
            delayMs={250}
            label={t('images.filter')}
            className="w-56 max-md:flex-1"
          />
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
      {names.length === 0 ? (
        <p className="p-3 text-ink-2">{t('images.noneFound')}</p>
      ) : (
        <ul aria-label={t('images.title')}>
          {names.map((name) => (
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
                <code className="min-w-0 truncate font-strong">{name}</code>
              </button>
              {open === name && <ImageTags teamSlug={teamSlug} registryId={registry.id} image={name} />}
            </li>
          ))}
        </ul>
      )}
      {total > 5 && <Pagination {...page} total={total} onChange={setPage} />}
    </Box>
  )
}
