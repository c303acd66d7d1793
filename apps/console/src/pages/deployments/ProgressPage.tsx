import type { ResponseOf } from '@crux/contract'
import { releaseDurationMs } from '@crux/rules'
import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useEditors } from '../../api/editors.ts'
import { ErrorState } from '../../components/ErrorState.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonColumns } from '../../components/Skeletons.tsx'
import { versionTitle } from '../../components/version-title.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { deploymentReasons } from './deployment-reason.ts'
import { countVerified, getShare } from './instance-view.ts'
import { ProgressHeader } from './ProgressHeader.tsx'
import { ProgressRows, type Toggled } from './ProgressRows.tsx'
import { isUnderWay, type Progress, toEnd } from './progress.ts'
import { listSubjects, progressRows } from './progress-rows.ts'
import { QueuePosition, queueIntervalMs } from './QueuePosition.tsx'
import { ReleaseLog } from './ReleaseLog.tsx'
import { ReleaseFailure, ReleaseSuccess } from './ReleaseOutcome.tsx'
import { ReleaseResult } from './ReleaseResult.tsx'
import { ReleaseSummary } from './ReleaseSummary.tsx'
import type { Release } from './release.ts'
import { useProgress } from './use-progress.ts'
import type { LogSource } from './use-release-log.ts'
import { useServiceAddresses } from './use-service-addresses.ts'
import { useStart } from './use-start.ts'
import { useTick } from './use-tick.ts'

const RollBackDialog = lazyComponent(async () => (await import('./RollBackDialog.tsx')).RollBackDialog)
const ChangesDialog = lazyComponent(async () => (await import('./ChangesDialog.tsx')).ChangesDialog)

type Details = ResponseOf<'deployments.get'>

export function ProgressPage() {
  const { teamSlug, deploymentId } = useParams({ from: '/app/$teamSlug/deployments/$deploymentId/deploy' })
  const query = useQuery({
    ...apiQuery('deployments.get', { params: { teamSlug, deploymentId } }),
    refetchInterval: ({ state }) => (state.data?.queuedBehind ? queueIntervalMs : false),
  })
  return (
    <QueryView query={query} skeleton={<SkeletonColumns />}>
      {(deployment) => <ProgressView teamSlug={teamSlug} deployment={deployment} />}
    </QueryView>
  )
}

function ProgressView({ teamSlug, deployment }: { teamSlug: string; deployment: Details }) {
  const { t } = useTranslation(['deployments', 'common'])
  const search = useSearch({ from: '/app/$teamSlug/deployments/$deploymentId/deploy' })
  const [params] = useState({ teamSlug, deploymentId: deployment.id })
  useEditors('deployment', params)
  const { progress: streamed, loading, error, retry } = useProgress(params, search.try)
  const busy = streamed.status === 'in-progress'
  const releases = useQuery({ ...apiQuery('deployments.releases', { params }), refetchInterval: busy ? 2_000 : false })
  const release = releases.data?.find((candidate) => candidate.number === streamed.try)
  const removedAfterDays = release?.logRemovedAfterDays
  const progress = release && removedAfterDays !== undefined ? toEnd(release) : streamed
  const now = useTick(isUnderWay(progress), progress)
  const [toggled, setToggled] = useState<Toggled>({})
  const [source, setSource] = useState<LogSource>('all')
  const [changes, setChanges] = useState(false)
  const { start, starting, startDenied, rollBack, rollBackDenied } = useStart(teamSlug)
  const [asked, setAsked] = useState<Release | null>(null)

  // The release's times are the same in every list; the events use the agent's clock.
  const tookMs = (release && releaseDurationMs(release)) ?? null
  const elapsedMs =
    tookMs ?? (progress.startedAt === null ? null : Math.max(0, (progress.endedAt ?? now) - progress.startedAt))
  const addresses = useServiceAddresses(teamSlug, deployment.id, deployment.node.id)

  const subjects = listSubjects(deployment, release)
  const getName = useCallback(
    (id: string) => subjects.find((subject) => subject.instanceId === id)?.name ?? t('progress.agent'),
    [subjects, t],
  )
  const rows = progressRows(subjects, progress)
  const states = rows.map((row) => row.instance)
  const again = {
    run: () => void start(deployment),
    reason: startDenied ?? deploymentReasons(deployment)('deploy'),
    busy: starting,
  }
  const version = { name: release?.versionName ?? deployment.version.name }
  const title = versionTitle(deployment.project, version)

  return (
    <>
      <ProgressHeader
        teamSlug={teamSlug}
        deployment={deployment}
        title={title}
        versionName={version.name}
        releases={releases.data ?? []}
        release={release}
        number={progress.try}
        hasLog={progress.try > 0 && removedAfterDays === undefined}
        busy={busy}
        onChanges={() => setChanges(true)}
      />
      {error ? (
        <ErrorState error={error} retry={retry} />
      ) : loading ? (
        <SkeletonColumns bare />
      ) : (
        <>
          <ReleaseSummary
            progress={progress}
            verified={removedAfterDays === undefined ? countVerified(states) : null}
            total={rows.length}
            share={getShare(states)}
            elapsedMs={elapsedMs}
            lastTimeMs={lastTime(releases.data, progress.try)}
            service={getService(deployment, progress, t)}
            queue={busy && deployment.queuedBehind && <QueuePosition teamSlug={teamSlug} deployment={deployment} />}
          />
          {busy && <ReleaseResult status="in-progress" text={t('result.pending', { count: rows.length })} />}
          {progress.status === 'failed' && (
            <ReleaseFailure
              {...{ teamSlug, deployment, rows, again, progress, release, rollBackDenied }}
              releases={releases.data ?? []}
              showLinesOf={setSource}
              onRollBack={setAsked}
            />
          )}
          {progress.status === 'successful' && (
            <ReleaseSuccess {...{ teamSlug, deployment, rows, again, addresses, tookMs }} />
          )}
          <div className="grid items-stretch gap-4 min-[1100px]:grid-cols-[minmax(0,1.25fr)_minmax(0,1fr)]">
            <ProgressRows
              {...{ teamSlug, deployment, rows, now, toggled }}
              onToggle={setToggled}
              namesOnly={removedAfterDays !== undefined}
              reason={progress.reason ?? ''}
            />
            <ReleaseLog
              source={source}
              onSource={setSource}
              progress={progress}
              removedAfterDays={removedAfterDays}
              subjects={subjects}
              getName={getName}
              fileName={`${title}-${progress.try}`.replace(/\s+/g, '-')}
            />
          </div>
        </>
      )}
      {changes && <ChangesDialog teamSlug={teamSlug} deployment={deployment} onClose={() => setChanges(false)} />}
      {asked && (
        <RollBackDialog
          teamSlug={teamSlug}
          deployment={deployment}
          release={asked}
          denied={rollBackDenied}
          onClose={() => setAsked(null)}
          onRollBack={() => rollBack(deployment, asked.number)}
        />
      )}
    </>
  )
}

function lastTime(releases: readonly Release[] | undefined, number: number): number | null {
  const last = releases?.find(
    (release) => release.number < number && release.status === 'successful' && release.finishedAt,
  )
  return last ? releaseDurationMs(last) : null
}

type T = ReturnType<typeof useTranslation<['deployments', 'common']>>['t']

/** What answers during and after the release, which matters most in an incident. */
function getService(
  deployment: Details,
  progress: Progress,
  t: T,
): { text: string; tone: 'good' | 'plain' | 'bad' } | null {
  const { running } = deployment
  if (progress.status === 'in-progress') {
    if (!running) return { text: t('service.first'), tone: 'plain' }
    return { text: t('service.keeps', { name: getName(running) }), tone: 'good' }
  }
  if (!running) return { text: t('service.none'), tone: 'bad' }
  // An earlier release does not show the current state, so the running containers come from the records.
  const isNewest = progress.try === deployment.lastTry
  return isNewest && progress.previousRestored === false
    ? { text: t('service.lost', { name: getName(running) }), tone: 'bad' }
    : { text: t('service.answers', { name: getName(running) }), tone: 'good' }

  /** Releases of one deployment have one version, and those of a project without versions too: their number distinguishes them. */
  function getName({ deploymentId, number, versionName }: NonNullable<Details['running']>): string {
    const hasVersions = deployment.project.type === 'versioned'
    return deploymentId !== deployment.id && hasVersions ? versionName : t('detail.release', { number })
  }
}
