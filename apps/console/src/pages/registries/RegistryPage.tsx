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
import { Tag } from '../../components/Tag.tsx'
import { toastSuccess } from '../../components/toasts.tsx'
import { useAnchor } from '../../forms/use-anchor.ts'
import { links } from '../../links.ts'
import { RegistryImages } from './RegistryImages.tsx'
import { RegistryToken } from './RegistryToken.tsx'

const RegistryEdit = later(() => import('../../forms/registry-edit.tsx').then((module) => module.RegistryEdit))

const route = getRouteApi('/app/$teamSlug/registries/$registryId')

export function RegistryPage() {
  const params = route.useParams()
  const query = useQuery(apiQuery('registries.get', { params }))
  return (
    <QueryView query={query} skeleton={<SkeletonPage />}>
      {(registry) => <RegistryView key={registry.id} teamSlug={params.teamSlug} registry={registry} />}
    </QueryView>
  )
}

function RegistryView({ teamSlug, registry }: { teamSlug: string; registry: Result<'registries.get'> }) {
  const { t } = useTranslation(['registries', 'common'])
  const navigate = useNavigate()
  const anchor = useAnchor('edit')
  const denied = useDenied('registries.update')
  const { details } = registry
  const remove = useCall('registries.delete', {
    stale: [queryKey('registries.list'), queryKey('dashboard.get')],
    onSuccess: async () => {
      toastSuccess(t('delete.done', { name: registry.name }))
      await navigate(links.registries(teamSlug))
    },
  })
  const askRemove = async () => {
    const yes = await confirm({
      title: t('delete.title', { name: registry.name }),
      text: t('delete.text'),
      action: t('delete.action'),
      danger: true,
    })
    if (yes) remove.mutate({ params: { teamSlug, registryId: registry.id } })
  }
  const access = details.local
    ? t('details.accessLocal')
    : details.hasCredentials
      ? t('details.accessPrivate', { user: details.user ?? '' })
      : t('details.accessPublic')
  return (
    <>
      <PageHead
        title={registry.name}
        crumbs={[{ label: t('title'), link: links.registries(teamSlug) }]}
        mark={registry.icon && <AnimalIcon name={registry.icon} className="text-ink-2" />}
        sub={registry.description}
        tools={
          <>
            <Button icon={Pencil} disabledReason={denied} onClick={anchor.show}>
              {t('common:edit')}
            </Button>
            <Button
              icon={Trash2}
              variant="bad"
              busy={remove.isPending}
              disabledReason={remove.denied ?? (registry.inUse ? t('delete.inUse') : null)}
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
            { label: t('details.type'), value: <Tag>{t(`type.${registry.type}`)}</Tag> },
            { label: t('details.url'), value: <code>{registry.imageUrlPrefix || registry.url || '-'}</code> },
            { label: t('details.access'), value: access },
            { label: t('details.use'), value: registry.inUse ? t('details.yes') : t('details.no') },
            { label: t('details.updated'), value: <RelativeTime at={registry.updatedAt} /> },
          ]}
        />
      </Box>
      <RegistryImages teamSlug={teamSlug} registry={registry} />
      {registry.type === 'v2' && (
        <div className="mt-4">
          <RegistryToken teamSlug={teamSlug} registry={registry} />
        </div>
      )}
      {anchor.open && !denied && <RegistryEdit teamSlug={teamSlug} registry={registry} onClose={anchor.close} />}
    </>
  )
}
