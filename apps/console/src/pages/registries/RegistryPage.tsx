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
import { Pill } from '../../components/Tag.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import { useAnchor } from '../../routing/use-anchor.ts'
import { RegistryHooks } from './RegistryHooks.tsx'
import { RegistryImages } from './RegistryImages.tsx'

const RegistryForm = lazyComponent(async () => (await import('../../forms/registry-form.tsx')).RegistryForm)

const route = getRouteApi('/app/$teamSlug/registries/$registryId')

export function RegistryPage() {
  const params = route.useParams()
  const query = useQuery(apiQuery('registries.get', { params }))
  return (
    <QueryView query={query} skeleton={<SkeletonPage />}>
      {(registry) => <RegistryView teamSlug={params.teamSlug} registry={registry} />}
    </QueryView>
  )
}

function RegistryView({ teamSlug, registry }: { teamSlug: string; registry: ResponseOf<'registries.get'> }) {
  const { t } = useTranslation('registries')
  const anchor = useAnchor('edit')
  const denied = useDenied('registries.update')
  const { details } = registry
  const list = links.registries(teamSlug)
  const removal = useRemoval('registries.delete', {
    input: { params: { teamSlug, registryId: registry.id } },
    stale: [queryKey('registries.list'), queryKey('dashboard.get')],
    question: { title: t('delete.title', { name: registry.name }), text: t('delete.text'), action: t('delete.action') },
    done: t('delete.done', { name: registry.name }),
    list,
  })
  const access = details.local
    ? t('details.accessLocal')
    : details.hasCredentials
      ? t('details.accessPrivate', { user: details.user ?? '' })
      : t('details.accessPublic')
  return (
    <>
      <DetailsHead
        of={registry}
        list={{ label: t('title'), link: list }}
        edit={{ denied, show: anchor.show }}
        removal={removal}
        inUse={registry.inUse && t('delete.inUse')}
      />
      <Box label={t('details.facts')} className="mb-4">
        <DescriptionList
          items={[
            { label: t('details.type'), value: <Pill>{t(`type.${registry.type}`)}</Pill> },
            { label: t('details.url'), value: <code>{registry.imageUrlPrefix || registry.url || '-'}</code> },
            { label: t('details.access'), value: access },
            { label: t('details.use'), value: registry.inUse ? t('details.yes') : t('details.no') },
            { label: t('details.updated'), value: <TimeAgo at={registry.updatedAt} /> },
          ]}
        />
      </Box>
      <RegistryImages teamSlug={teamSlug} registry={registry} />
      <RegistryHooks teamSlug={teamSlug} registry={registry} />
      {anchor.open && !denied && <RegistryForm teamSlug={teamSlug} registry={registry} onClose={anchor.close} />}
    </>
  )
}
