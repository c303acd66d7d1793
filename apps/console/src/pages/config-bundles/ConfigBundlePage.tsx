import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { SlidersHorizontal } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryKey } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { useRemoval } from '../../api/use-removal.ts'
import { Box } from '../../components/Box.tsx'
import { ButtonLink } from '../../components/Button.tsx'
import { DetailsHead } from '../../components/DetailsHead.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonPage } from '../../components/Skeletons.tsx'
import { Tag } from '../../components/Tag.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import { useAnchor } from '../../routing/use-anchor.ts'
import { BundleDeployments } from './BundleDeployments.tsx'
import { getSettings, type Setting } from './bundle-settings.ts'

const BundleForm = lazyComponent(async () => (await import('../../forms/bundle-form.tsx')).BundleForm)

const route = getRouteApi('/app/$teamSlug/config-bundles/$configBundleId')

export function ConfigBundlePage() {
  const params = route.useParams()
  const query = useQuery(apiQuery('config-bundles.get', { params }))
  return (
    <QueryView query={query} skeleton={<SkeletonPage />}>
      {(bundle) => <BundleView teamSlug={params.teamSlug} bundle={bundle} />}
    </QueryView>
  )
}

function BundleView({ teamSlug, bundle }: { teamSlug: string; bundle: ResponseOf<'config-bundles.get'> }) {
  const { t } = useTranslation('bundles')
  const anchor = useAnchor('edit')
  const denied = useDenied('config-bundles.update')
  const list = links.configBundles(teamSlug)
  const removal = useRemoval('config-bundles.delete', {
    input: { params: { teamSlug, configBundleId: bundle.id } },
    stale: [queryKey('config-bundles.list')],
    question: { title: t('delete.title', { name: bundle.name }), text: t('delete.text'), action: t('delete.action') },
    done: t('delete.done', { name: bundle.name }),
    list,
  })
  const settings = getSettings(bundle.config)
  return (
    <>
      <DetailsHead
        of={bundle}
        list={{ label: t('title'), link: list }}
        edit={{ denied, show: anchor.show }}
        removal={removal}
        inUse={bundle.deploymentCount > 0 && t('delete.inUse', { count: bundle.deploymentCount })}
        actions={
          <ButtonLink {...links.containerConfiguration(teamSlug, bundle.configId)} icon={SlidersHorizontal}>
            {t('configuration')}
          </ButtonLink>
        }
      />
      <Box title={t('settings.title')} label={t('settings.title')} className="mb-4">
        {settings.length === 0 ? (
          <p className="px-3 py-2.5 text-ink-2">{t('settings.none')}</p>
        ) : (
          <ul className="flex flex-wrap gap-x-4 gap-y-1.5 px-3 py-2.5">
            {settings.map((setting) => (
              <li key={setting.field} className="max-w-full">
                <SettingWords setting={setting} />
              </li>
            ))}
          </ul>
        )}
      </Box>
      <BundleDeployments teamSlug={teamSlug} bundleId={bundle.id} />
      {anchor.open && !denied && <BundleForm teamSlug={teamSlug} bundle={bundle} onClose={anchor.close} />}
    </>
  )
}

/** "environment LOG_LEVEL, REGION and 3 more": enough to recognise a bundle by. */
function SettingWords({ setting: { field, keys, more } }: { setting: Setting }) {
  const { t } = useTranslation('bundles')
  return (
    <span className="inline-flex max-w-full flex-wrap items-baseline gap-1.5">
      <span className="mono text-ink-2">{field}</span>
      {keys.map((key) => (
        <Tag key={key} className="max-w-60 truncate">
          {key}
        </Tag>
      ))}
      {more > 0 && <span className="text-small text-ink-2">{t('settings.more', { count: more })}</span>}
    </span>
  )
}
