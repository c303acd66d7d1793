import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryKey } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { useRemoval } from '../../api/use-removal.ts'
import { Box, DescriptionList } from '../../components/Box.tsx'
import { DetailsHead } from '../../components/DetailsHead.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonPage } from '../../components/Skeletons.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import { useAnchor } from '../../routing/use-anchor.ts'
import { StorageCheck } from './StorageCheck.tsx'

const StorageForm = lazyComponent(async () => (await import('../../forms/storage-form.tsx')).StorageForm)

const route = getRouteApi('/app/$teamSlug/storages/$storageId')

export function StoragePage() {
  const params = route.useParams()
  const query = useQuery(apiQuery('storages.get', { params }))
  return (
    <QueryView query={query} skeleton={<SkeletonPage />}>
      {(storage) => <StorageView teamSlug={params.teamSlug} storage={storage} />}
    </QueryView>
  )
}

function StorageView({ teamSlug, storage }: { teamSlug: string; storage: ResponseOf<'storages.get'> }) {
  const { t } = useTranslation('storages')
  const anchor = useAnchor('edit')
  const denied = useDenied('storages.update')
  const list = links.storages(teamSlug)
  const removal = useRemoval('storages.delete', {
    input: { params: { teamSlug, storageId: storage.id } },
    stale: [queryKey('storages.list'), queryKey('storages.options')],
    question: { title: t('delete.title', { name: storage.name }), text: t('delete.text'), action: t('delete.action') },
    done: t('delete.done', { name: storage.name }),
    list,
  })
  return (
    <>
      <DetailsHead
        of={storage}
        list={{ label: t('title'), link: list }}
        edit={{ denied, show: anchor.show }}
        removal={removal}
        inUse={storage.inUse && t('delete.inUse')}
      />
      <Box label={t('details.facts')} className="mb-4">
        <DescriptionList
          items={[
            { label: t('details.url'), value: <code className="break-all">{storage.url}</code> },
            { label: t('details.access'), value: storage.public ? t('details.public') : t('details.keys') },
            { label: t('details.use'), value: storage.inUse ? t('details.used') : t('details.unused') },
            { label: t('details.updated'), value: <TimeAgo at={storage.updatedAt} /> },
          ]}
        />
      </Box>
      <StorageCheck teamSlug={teamSlug} storage={storage} />
      {anchor.open && !denied && <StorageForm teamSlug={teamSlug} storage={storage} onClose={anchor.close} />}
    </>
  )
}
