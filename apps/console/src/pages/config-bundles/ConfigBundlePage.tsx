import type { Result } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Pencil, SlidersHorizontal, Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryKey, useCall } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { Box } from '../../components/Box.tsx'
import { Button, ButtonLink } from '../../components/Button.tsx'
import { confirm } from '../../components/confirm.tsx'
import { later } from '../../components/later.tsx'
import { PageHead } from '../../components/PageHead.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonPage } from '../../components/Skeletons.tsx'
import { Tag } from '../../components/Tag.tsx'
import { toastSuccess } from '../../components/toasts.tsx'
import { useAnchor } from '../../forms/use-anchor.ts'
import { links } from '../../links.ts'
import { BundleDeployments } from './BundleDeployments.tsx'
import { type Setting, settingsOf } from './bundle-settings.ts'

const BundleEdit = later(() => import('../../forms/bundle-edit.tsx').then((module) => module.BundleEdit))

const route = getRouteApi('/app/$teamSlug/config-bundles/$configBundleId')

export function ConfigBundlePage() {
  const params = route.useParams()
  const query = useQuery(apiQuery('config-bundles.get', { params }))
  return (
    <QueryView query={query} skeleton={<SkeletonPage />}>
      {(bundle) => <BundleView key={bundle.id} teamSlug={params.teamSlug} bundle={bundle} />}
    </QueryView>
  )
}

function BundleView({ teamSlug, bundle }: { teamSlug: string; bundle: Result<'config-bundles.get'> }) {
  const { t } = useTranslation(['bundles', 'common'])
  const navigate = useNavigate()
  const anchor = useAnchor('edit')
  const denied = useDenied('config-bundles.update')
  const remove = useCall('config-bundles.delete', {
    stale: [queryKey('config-bundles.list')],
    onSuccess: async () => {
      toastSuccess(t('delete.done', { name: bundle.name }))
      await navigate(links.configBundles(teamSlug))
    },
  })
  const askRemove = async () => {
    const yes = await confirm({
      title: t('delete.title', { name: bundle.name }),
      text: t('delete.text'),
      action: t('delete.action'),
      danger: true,
    })
    if (yes) remove.mutate({ params: { teamSlug, configBundleId: bundle.id } })
  }
  const settings = settingsOf(bundle.config)
  return (
    <>
      <PageHead
        title={bundle.name}
        crumbs={[{ label: t('title'), link: links.configBundles(teamSlug) }]}
        sub={bundle.description}
        tools={
          <>
            <ButtonLink {...links.containerConfiguration(teamSlug, bundle.configId)} icon={SlidersHorizontal}>
              {t('configuration')}
            </ButtonLink>
            <Button icon={Pencil} disabledReason={denied} onClick={anchor.show}>
              {t('common:edit')}
            </Button>
            <Button
              icon={Trash2}
              variant="bad"
              busy={remove.isPending}
              disabledReason={
                remove.denied ??
                (bundle.deploymentCount > 0 ? t('delete.inUse', { count: bundle.deploymentCount }) : null)
              }
              onClick={() => void askRemove()}
            >
              {t('common:delete')}
            </Button>
          </>
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
      {anchor.open && !denied && <BundleEdit teamSlug={teamSlug} bundle={bundle} onClose={anchor.close} />}
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
