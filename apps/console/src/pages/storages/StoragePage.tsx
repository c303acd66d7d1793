import type { Result } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Pencil, Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryKey, useCall } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { AnimalIcon } from '../../components/AnimalIcon.tsx'
import { Box, Facts } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { confirm } from '../../components/confirm.tsx'
import { later } from '../../components/later.tsx'
import { PageHead } from '../../components/PageHead.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { SkeletonPage } from '../../components/Skeletons.tsx'
import { toastSuccess } from '../../components/toasts.tsx'
import { useAnchor } from '../../forms/use-anchor.ts'
import { links } from '../../links.ts'
import { StorageCheck } from './StorageCheck.tsx'

const StorageEdit = later(() => import('../../forms/storage-edit.tsx').then((module) => module.StorageEdit))

const route = getRouteApi('/app/$teamSlug/storages/$storageId')

export function StoragePage() {
  const params = route.useParams()
  const query = useQuery(apiQuery('storages.get', { params }))
  return (
    <QueryView query={query} skeleton={<SkeletonPage />}>
      {(storage) => <StorageView key={storage.id} teamSlug={params.teamSlug} storage={storage} />}
    </QueryView>
  )
}

function StorageView({ teamSlug, storage }: { teamSlug: string; storage: Result<'storages.get'> }) {
  const { t } = useTranslation(['storages', 'common'])
  const navigate = useNavigate()
  const anchor = useAnchor('edit')
  const denied = useDenied('storages.update')
  const remove = useCall('storages.delete', {
    stale: [queryKey('storages.list'), queryKey('storages.options')],
    onSuccess: async () => {
      toastSuccess(t('delete.done', { name: storage.name }))
      await navigate(links.storages(teamSlug))
    },
  })
  const askRemove = async () => {
    const yes = await confirm({
      title: t('delete.title', { name: storage.name }),
      text: t('delete.text'),
      action: t('delete.action'),
      danger: true,
    })
    if (yes) remove.mutate({ params: { teamSlug, storageId: storage.id } })
  }
  return (
    <>
      <PageHead
        title={storage.name}
        crumbs={[{ label: t('title'), link: links.storages(teamSlug) }]}
        mark={storage.icon && <AnimalIcon name={storage.icon} className="text-ink-2" />}
        sub={storage.description}
        tools={
          <>
            <Button icon={Pencil} disabledReason={denied} onClick={anchor.show}>
              {t('common:edit')}
            </Button>
            <Button
              icon={Trash2}
              variant="bad"
              busy={remove.isPending}
              disabledReason={remove.denied ?? (storage.inUse ? t('delete.inUse') : null)}
              onClick={() => void askRemove()}
            >
              {t('common:delete')}
            </Button>
          </>
        }
      />
      <Box label={t('details.facts')} className="mb-4">
        <Facts
          items={[
            { label: t('details.url'), value: <code className="break-all">{storage.url}</code> },
            { label: t('details.access'), value: storage.public ? t('details.public') : t('details.keys') },
            { label: t('details.use'), value: storage.inUse ? t('details.used') : t('details.unused') },
            { label: t('details.updated'), value: <RelativeTime at={storage.updatedAt} /> },
          ]}
        />
      </Box>
      <StorageCheck teamSlug={teamSlug} storage={storage} />
      {anchor.open && !denied && <StorageEdit teamSlug={teamSlug} storage={storage} onClose={anchor.close} />}
    </>
  )
}
