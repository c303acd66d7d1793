import type { ResponseOf } from '@crux/contract'
import { releaseDurationMs } from '@crux/rules'
import { useQuery } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { duration } from '../../components/relative-time.ts'
import { State } from '../../components/State.tsx'
import { Pill } from '../../components/Tag.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import { Pagination } from '../../table/Pagination.tsx'
import { Reason } from './Reason.tsx'
import type { Release } from './release.ts'
import { toSentence } from './release-failure.ts'
import { shortDigest } from './short-digest.ts'

const RollBackDialog = lazyComponent(async () => (await import('./RollBackDialog.tsx')).RollBackDialog)

type Props = {
  teamSlug: string
  deployment: ResponseOf<'deployments.get'>
  onRollBack: (number: number) => void
  denied: string | null
}

/** The digest that started a release. */
function Trigger({ release: { triggerReason, instances } }: { release: Release }) {
  const digests = [...new Set(instances.flatMap(({ digest }) => (digest ? [shortDigest(digest)] : [])))]
  return (
    <p className="break-words text-small text-ink-2">
      {toSentence(triggerReason ?? '', [])} <code>{digests.join(', ')}</code>
    </p>
  )
}

/** Every start of this deployment, newest first; an earlier successful release can be started again by its digests. */
export function Releases({ teamSlug, deployment, onRollBack, denied }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const query = useQuery(apiQuery('deployments.releases', { params: { teamSlug, deploymentId: deployment.id } }))
  const [page, setPage] = useState({ skip: 0, take: 5 })
  const [asked, setAsked] = useState<Release | null>(null)
  const releases = query.data ?? []
  const skip = page.skip < releases.length ? page.skip : 0
  if (query.isError && !query.data) return <ErrorState error={query.error} retry={() => void query.refetch()} />
  return (
    <Box title={t('releases.title')} trailing={query.data?.length}>
      {query.isPending ? (
        <div aria-busy="true" className="grid gap-2 p-3">
          <span className="skeleton h-4 w-2/3" />
          <span className="skeleton h-4 w-1/2" />
        </div>
      ) : query.data.length === 0 ? (
        <p className="px-3 py-2.5 text-ink-2">{t('releases.none')}</p>
      ) : (
        <ol aria-label={t('releases.title')} className="divide-y divide-line">
          {releases.slice(skip, skip + page.take).map((release) => (
            <li key={release.number} className="grid gap-0.5 px-3 py-2">
              <div className="flex flex-wrap items-center gap-x-2.5">
                <State kind="deployment" value={release.status} />
                <TextLink {...links.deploymentProgress(teamSlug, deployment.id, release.number)} strong>
                  {t('detail.release', { number: release.number })}
                </TextLink>
                {release.current && <Pill tone="accent">{t('releases.current')}</Pill>}
                <span className="ml-auto text-small text-ink-2">
                  <TimeAgo at={release.startedAt} />{' '}
                  {t(release.trigger === 'follow' ? 'releases.followed' : 'detail.by', {
                    name: release.startedBy.name,
                  })}
                </span>
              </div>
              {release.triggerReason && <Trigger release={release} />}
              {release.overrideFreeze && (
                <p className="break-words text-small text-ink-2">
                  {t('releases.frozen', { reason: release.overrideFreeze })}
                </p>
              )}
              <div className="flex items-center gap-2">
                <span className="min-w-0 flex-1 break-words text-ink-2">
                  {/* The reason of the newest release is shown at the top of the page. */}
                  {release.reason && release.reason !== deployment.outcome ? (
                    <Reason text={release.reason} />
                  ) : (
                    t('releases.images', { count: release.instances.length })
                  )}
                  {release.status === 'successful' && `, ${duration(releaseDurationMs(release) ?? 0)}`}
                </span>
                {release.status === 'successful' && !release.current && (
                  <Button size="sm" icon={Undo2} disabledReason={denied} onClick={() => setAsked(release)}>
                    {t('rollBack.button')}
                  </Button>
                )}
              </div>
            </li>
          ))}
        </ol>
      )}
      {releases.length > 5 && <Pagination {...page} skip={skip} total={releases.length} onChange={setPage} />}
      {asked && (
        <RollBackDialog
          teamSlug={teamSlug}
          deployment={deployment}
          release={asked}
          denied={denied}
          onClose={() => setAsked(null)}
          onRollBack={() => onRollBack(asked.number)}
        />
      )}
    </Box>
  )
}
