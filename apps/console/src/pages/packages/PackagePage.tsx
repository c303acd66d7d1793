import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryKey } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { useRemoval } from '../../api/use-removal.ts'
import { DetailsHead } from '../../components/DetailsHead.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonPage } from '../../components/Skeletons.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import { useAnchor } from '../../routing/use-anchor.ts'
import { PackageBoard } from './PackageBoard.tsx'
import { useFrozen } from './use-environment-actions.ts'

const PackageForm = lazyComponent(async () => (await import('../../forms/package-form.tsx')).PackageForm)

const route = getRouteApi('/app/$teamSlug/packages/$packageId')

export function PackagePage() {
  const params = route.useParams()
  const query = useQuery(apiQuery('packages.get', { params }))
  return (
    <QueryView query={query} skeleton={<SkeletonPage />}>
      {(details) => <PackageView teamSlug={params.teamSlug} details={details} />}
    </QueryView>
  )
}

function PackageView({ teamSlug, details }: { teamSlug: string; details: ResponseOf<'packages.get'> }) {
  const { t } = useTranslation('packages')
  const edit = useAnchor('edit')
  const denied = useDenied('packages.update')
  const list = links.packages(teamSlug)
  const frozen = useFrozen()(details.environments.some(({ hasFreezeWindows }) => hasFreezeWindows))
  const removal = useRemoval('packages.delete', {
    input: { params: { teamSlug, packageId: details.id } },
    stale: [queryKey('packages.list')],
    question: {
      title: t('delete.title', { name: details.name }),
      text: t('delete.text'),
      action: t('delete.action'),
      // The history of promotions cannot be restored.
      typeName: details.environments.length > 0 ? details.name : undefined,
    },
    done: t('delete.done', { name: details.name }),
    list,
  })
  return (
    <>
      <DetailsHead
        of={details}
        list={{ label: t('title'), link: list }}
        edit={{ denied, show: edit.show }}
        removal={removal}
        inUse={frozen ?? false}
      />
      <PackageBoard teamSlug={teamSlug} details={details} onEdit={edit.show} editDenied={denied} />
      {edit.open && !denied && <PackageForm teamSlug={teamSlug} details={details} onClose={edit.close} />}
    </>
  )
}
