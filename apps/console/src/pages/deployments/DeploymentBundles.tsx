import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { ArrowDown, ArrowUp, SlidersHorizontal, X } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryClient, queryKey, useCall } from '../../api/client.ts'
import { Box } from '../../components/Box.tsx'
import { IconButton } from '../../components/Button.tsx'
import { Select } from '../../components/Field.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../routing/links.ts'

type Details = ResponseOf<'deployments.get'>
type Props = {
  teamSlug: string
  deployment: Details
  /** Why the deployment cannot be changed now. */
  reason: string | null
  /** The number of settings in which the config bundles conflict. */
  conflicts: number
}

/** The config bundles of the deployment in their order. Each change is saved immediately and shown to all users on the page. */
export function DeploymentBundles({ teamSlug, deployment, reason, conflicts }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const params = { teamSlug, deploymentId: deployment.id }
  const all = useQuery(apiQuery('config-bundles.list', { params: { teamSlug } }))
  const update = useCall('deployments.update', {
    stale: [
      queryKey('deployments.preview', { params }),
      queryKey('deployments.final-configuration', { params }),
      queryKey('config-bundles.get'),
      queryKey('config-bundles.deployments'),
    ],
    // Until it is read again, the next change would begin from the list of before.
    onSuccess: () => queryClient.invalidateQueries({ queryKey: queryKey('deployments.get', { params }) }),
  })
  const denied = update.denied ?? reason
  const bundles = deployment.configBundles
  const ids = bundles.map((bundle) => bundle.id)
  const rest = (all.data ?? []).filter((bundle) => !ids.includes(bundle.id))
  const save = (configBundles: string[]) => {
    if (update.isPending) return
    const { prefix, note } = deployment
    update.mutate({ params, body: { prefix, note, protected: deployment.protected, configBundles } })
  }
  const move = (index: number, by: 1 | -1) => {
    const next = ids.filter((_, at) => at !== index)
    next.splice(index + by, 0, ids[index] ?? '')
    save(next)
  }
  return (
    <Box
      title={t('bundles.title')}
      label={t('bundles.title')}
      trailing={bundles.length || undefined}
      actions={
        rest.length > 0 && (
          <Select
            aria-label={t('bundles.add')}
            className="w-auto! max-w-52"
            value=""
            disabled={denied !== null || update.isPending}
            title={denied ?? undefined}
            onChange={(event) => save([...ids, event.target.value])}
            none={t('bundles.add')}
            options={rest.map(({ id, name }) => ({ value: id, label: name }))}
          />
        )
      }
    >
      {bundles.length === 0 ? (
        <p className="px-3 py-2.5 text-ink-2">
          {t('bundles.none')}{' '}
          {all.data?.length === 0 && (
            <TextLink {...links.configBundles(teamSlug, 'new')} inline>
              {t('bundles.create')}
            </TextLink>
          )}
        </p>
      ) : (
        <ol aria-label={t('bundles.title')} className="divide-y divide-line">
          {bundles.map((bundle, index) => (
            <li key={bundle.id} className="flex items-center gap-2 py-1 pr-2 pl-3">
              <span className="min-w-0 flex-1">
                <TextLink {...links.configBundle(teamSlug, bundle.id)} strong className="block truncate">
                  {bundle.name}
                </TextLink>
                {bundle.description && (
                  <span className="block truncate text-small text-ink-2">{bundle.description}</span>
                )}
              </span>
              <TextLink
                {...links.containerConfiguration(teamSlug, bundle.configId)}
                aria-label={t('bundles.configuration', { name: bundle.name })}
                className="grid size-6 shrink-0 place-items-center rounded-md text-ink-2! hover:bg-hover"
              >
                <SlidersHorizontal aria-hidden />
              </TextLink>
              {bundles.length > 1 && (
                <span className="flex shrink-0">
                  <IconButton
                    icon={ArrowUp}
                    size="sm"
                    label={t('bundles.up', { name: bundle.name })}
                    disabledReason={denied ?? (index === 0 && t('bundles.first'))}
                    onClick={() => move(index, -1)}
                  />
                  <IconButton
                    icon={ArrowDown}
                    size="sm"
                    label={t('bundles.down', { name: bundle.name })}
                    disabledReason={denied ?? (index === bundles.length - 1 && t('bundles.last'))}
                    onClick={() => move(index, 1)}
                  />
                </span>
              )}
              <IconButton
                icon={X}
                size="sm"
                label={t('bundles.remove', { name: bundle.name })}
                disabledReason={denied}
                busy={update.isPending}
                onClick={() => save(ids.filter((id) => id !== bundle.id))}
              />
            </li>
          ))}
        </ol>
      )}
      {conflicts > 0 && (
        <p className="border-t border-line px-3 py-2.5 text-failed">{t('bundles.conflicts', { count: conflicts })}</p>
      )}
    </Box>
  )
}
