import type { ResponseOf } from '@crux/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Container, PackageX, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { imagePageQuery, imagesKey } from '../../api/registry-browser.ts'
import { Box } from '../../components/Box.tsx'
import { IconButton } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { RegistryProblem } from '../../components/RegistryProblem.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { ImageRows } from './ImageRows.tsx'

/** The images that the registry lists, each with its tags on demand. Asked over the live channel. */
export function RegistryImages({ teamSlug, registry }: { teamSlug: string; registry: ResponseOf<'registries.get'> }) {
  const { t } = useTranslation('registries')
  const [text, setText] = useState('')
  const listed = registry.type !== 'unchecked'
  const cache = useQueryClient()
  const query = useQuery({
    ...imagePageQuery(teamSlug, registry.id, text.trim(), 0),
    enabled: listed,
    placeholderData: (before) => before,
  })

  if (!listed) return <EmptyState icon={PackageX} title={t('images.uncheckedTitle')} text={t('images.uncheckedText')} />
  if (query.isError) return <RegistryProblem error={query.error} retry={() => void query.refetch()} />
  if (!query.data) return <SkeletonRows rows={6} />
  const { total, filter } = query.data
  if (total === 0 && filter === '' && text === '')
    return <EmptyState icon={Container} title={t('images.empty')} text={t('images.emptyText')} />

  return (
    <Box
      title={t('images.title')}
      trailing={<span className="tabular-nums">{total.toLocaleString('en')}</span>}
      actions={
        <>
          <SearchBox
            value={text}
            onChange={setText}
            delayMs={250}
            label={t('images.filter')}
            className="w-56 max-md:flex-1"
          />
          <IconButton
            icon={RotateCw}
            size="sm"
            label={t('images.reload')}
            busy={query.isFetching}
            onClick={() => void cache.invalidateQueries({ queryKey: imagesKey(teamSlug, registry.id) })}
          />
        </>
      }
    >
      {total === 0 ? (
        <p role="status" className="p-3 text-ink-2">
          {t('images.noneFound')}
        </p>
      ) : (
        // A new search starts at the top. Until its result arrives, the previous one stays.
        <ImageRows key={filter} source={{ teamSlug, registryId: registry.id }} filter={filter} total={total} />
      )}
    </Box>
  )
}
