import { addressOf } from '@crux/client'
import type { ResponseOf } from '@crux/contract'
import { deploymentAction, releaseDurationMs } from '@crux/rules'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Download, GitCompare, RotateCw, Server } from 'lucide-react'
import { useCallback, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useEditors } from '../../api/editors.ts'
import { Button, ButtonAnchor, ButtonLink } from '../../components/Button.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { PageHeader } from '../../components/PageHeader.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { duration } from '../../components/relative-time.ts'
import { SkeletonColumns } from '../../components/Skeletons.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { versionTitle } from '../../components/version-title.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import { CancelButton } from './CancelButton.tsx'
import { FailureActions } from './FailureActions.tsx'
import { instanceName } from './instance-name.ts'
import { countVerified, downtimeMs, shareOf, viewInstance } from './instance-view.ts'
import { OpenService } from './OpenService.tsx'
import { ImageName, ProgressRow, type RowSubject } from './ProgressRow.tsx'
import { endOf, type InstanceProgress, isUnderWay, type Progress } from './progress.ts'
import { QueuePosition, queueIntervalMs } from './QueuePosition.tsx'
import { Reason } from './Reason.tsx'
import { ReleaseLog } from './ReleaseLog.tsx'
import { ReleaseResult } from './ReleaseResult.tsx'
import { ReleaseSummary } from './ReleaseSummary.tsx'
import type { Release } from './release.ts'
import { failureCause, rollBackTarget } from './release-failure.ts'
import { TryPicker } from './TryPicker.tsx'
import { useProgress } from './use-progress.ts'
import type { LogSource } from './use-release-log.ts'
import { shownAddresses, useServiceAddresses } from './use-service-addresses.ts'
import { useStart } from './use-start.ts'
import { useTick } from './use-tick.ts'

const RollBackDialog = lazyComponent(() => import('./RollBackDialog.tsx').then((module) => module.RollBackDialog))
const ChangesDialog = lazyComponent(() => import('./ChangesDialog.tsx').then((module) => module.ChangesDialog))

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
  const navigate = useNavigate()
  const search = useSearch({ from: '/app/$teamSlug/deployments/$deploymentId/deploy' })
  const [params] = useState({ teamSlug, deploymentId: deployment.id })
  useEditors('deployment', params)
  const { progress: streamed, loading, error, retry } = useProgress(params, search.try)
  const busy = streamed.status === 'in-progress'
  const releases = useQuery({ ...apiQuery('deployments.releases', { params }), refetchInterval: busy ? 2_000 : false })
  const release = releases.data?.find((candidate) => candidate.number === streamed.try)
  const removedAfterDays = release?.logRemovedAfterDays
  const progress = release && removedAfterDays !== undefined ? endOf(release) : streamed
  const now = useTick(isUnderWay(progress), progress)
  const [toggled, setToggled] = useState<Readonly<Record<string, boolean>>>({})
  const [source, setSource] = useState<LogSource>('all')
  const [changes, setChanges] = useState(false)
  const { start, starting, startDenied, rollBack, rollBackDenied } = useStart(teamSlug)
  const [asked, setAsked] = useState<Release | null>(null)

  // The release's times are the same in every list; the events use the agent's clock.
  const elapsedMs =
    (release && releaseDurationMs(release)) ??
    (progress.startedAt === null ? null : Math.max(0, (progress.endedAt ?? now) - progress.startedAt))
  const addresses = useServiceAddresses(teamSlug, deployment.id, deployment.node.id)

  const subjects = subjectsOf(deployment, release)
  const nameOf = useCallback(
    (id: string) => subjects.find((subject) => subject.instanceId === id)?.name ?? t('progress.agent'),
    [subjects, t],
  )
  const rows = subjects.map((subject) => {
    const instance = progress.instances[subject.instanceId]
    const isCause = progress.status === 'failed' && progress.failedInstanceId === subject.instanceId
    return { subject, instance, view: viewInstance(instance, progress.status, isCause) }
  })
  const states = rows.map((row) => row.instance)
  const failed = rows.find((row) => row.view.word === 'failed')
  const saidSomething = progress.events.some(
    (event) => event.log?.fromContainer && event.instanceId === failed?.subject.instanceId,
  )
  const ended = progress.status === 'failed' || progress.status === 'successful'
  const verdict = deploymentAction('deploy', { status: deployment.status, versionType: deployment.version.type })
  const back =
    deployment.status === 'failed'
      ? rollBackTarget(releases.data ?? [], {
          number: progress.try,
          previousRestored: progress.previousRestored,
          isRunning: Boolean(deployment.running),
        })
      : undefined
  const cause = failureCause(failed?.view.failedPhase, progress.reason ?? release?.reason ?? '')
  const again = {
    run: () => void start(deployment),
    reason: startDenied ?? (verdict.allowed ? null : verdict.reason),
    busy: starting,
  }
  const version = { name: release?.versionName ?? deployment.version.name }
  const title = versionTitle(deployment.project, version)

  return (
    <>
      <PageHeader
        title={deployment.project.name}
        fullTitle={t('detail.fullTitle', { title, node: deployment.node.name })}
        crumb={progress.try > 0 ? t('detail.release', { number: progress.try }) : undefined}
        crumbs={[
          { label: t('list.title'), link: links.deployments(teamSlug) },
          {
            label: t('detail.fullTitle', { title, node: deployment.node.name }),
            link: links.deployment(teamSlug, deployment.id),
          },
        ]}
        mark={
          deployment.project.type === 'versioned' && (
            <TextLink {...links.deployment(teamSlug, deployment.id)} strong className="font-mono text-[17px]">
              {version.name}
            </TextLink>
          )
        }
        subtitle={
          <>
            {t('detail.to')} <b className="font-strong text-ink">{deployment.node.name}</b> {t('detail.under')}{' '}
            <code>{deployment.prefix}</code>
            {release && (
              <>
                , {t('progress.release', { number: release.number })},{' '}
                {t('progress.startedBy', { name: release.startedBy.name })} <TimeAgo at={release.startedAt} />
              </>
            )}
          </>
        }
        actions={
          <>
            <TryPicker
              releases={releases.data ?? []}
              number={progress.try}
              onPick={(number) => void navigate(links.deploymentProgress(teamSlug, deployment.id, number))}
            />
            {progress.try > 0 && removedAfterDays === undefined && (
              <ButtonAnchor
                icon={Download}
                download
                href={addressOf('deployments.log-file', { params, query: { try: progress.try } })}
              >
                {t('progress.file')}
              </ButtonAnchor>
            )}
            <Button icon={GitCompare} onClick={() => setChanges(true)}>
              {t('changes.title')}
            </Button>
            {busy && <CancelButton teamSlug={teamSlug} deployment={deployment} />}
          </>
        }
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
            share={shareOf(states)}
            elapsedMs={elapsedMs}
            lastTimeMs={lastTime(releases.data, progress.try)}
            service={serviceOf(deployment, progress, t)}
            queue={busy && deployment.queuedBehind && <QueuePosition teamSlug={teamSlug} deployment={deployment} />}
          />
          {busy && <ReleaseResult status="in-progress" text={t('result.pending', { count: rows.length })} />}
          {ended && (
            <ReleaseResult
              status={progress.status === 'failed' ? 'failed' : 'successful'}
              text={
                progress.status === 'failed' ? (
                  <Reason
                    text={progress.reason ?? release?.reason ?? t('result.failed')}
                    names={subjects.map(({ name }) => name)}
                  />
                ) : (
                  successText(rows, elapsedMs ?? 0, t)
                )
              }
            >
              {progress.status === 'failed' ? (
                <FailureActions
                  teamSlug={teamSlug}
                  deployment={deployment}
                  cause={cause}
                  instance={failed ? { id: failed.subject.instanceId, name: failed.subject.name } : null}
                  showLastLines={saidSomething ? () => setSource(failed?.subject.instanceId ?? 'all') : null}
                  again={again}
                  rollBack={back ? { number: back.number, run: () => setAsked(back), reason: rollBackDenied } : null}
                />
              ) : (
                <>
                  {addresses.slice(0, shownAddresses).map((address, index) => (
                    <OpenService key={address.url} address={address} main={index === 0} />
                  ))}
                  <ButtonLink
                    {...links.node(teamSlug, deployment.node.id, { prefix: deployment.prefix })}
                    icon={Server}
                  >
                    {t('result.node', { node: deployment.node.name })}
                  </ButtonLink>
                  {again.reason === null && (
                    <Button icon={RotateCw} busy={again.busy} onClick={again.run}>
                      {t('action.again')}
                    </Button>
                  )}
                </>
              )}
            </ReleaseResult>
          )}
          <div className="grid items-stretch gap-4 min-[1100px]:grid-cols-[minmax(0,1.25fr)_minmax(0,1fr)]">
            <ol aria-label={t('progress.images')} className="rounded-box border border-line bg-surface">
              {rows.map(({ subject, instance, view }) =>
                removedAfterDays !== undefined ? (
                  <li
                    key={subject.instanceId}
                    className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2.5 last:border-0"
                  >
                    <ImageName subject={subject} />
                  </li>
                ) : (
                  <ProgressRow
                    key={subject.instanceId}
                    subject={subject}
                    instance={instance}
                    view={view}
                    now={now}
                    said={progress.reason ?? ''}
                    open={toggled[subject.instanceId] ?? false}
                    onToggle={() => setToggled({ ...toggled, [subject.instanceId]: !toggled[subject.instanceId] })}
                    target={{ teamSlug, nodeId: deployment.node.id, prefix: deployment.prefix }}
                  />
                ),
              )}
              {rows.length === 0 && <li className="px-3 py-2.5 text-ink-2">{t('detail.noImages')}</li>}
            </ol>
            <ReleaseLog
              source={source}
              onSource={setSource}
              progress={progress}
              removedAfterDays={removedAfterDays}
              subjects={subjects}
              nameOf={nameOf}
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

/** A release names its images as they were then; before it is there, the deployment's own are shown. */
function subjectsOf(deployment: Details, release: Release | undefined): RowSubject[] {
  const short = (name: string) =>
    name.startsWith(`${deployment.prefix}-`) ? name.slice(deployment.prefix.length + 1) : name
  const configOf = (id: string) => deployment.instances.find((instance) => instance.id === id)?.config.id
  if (release && release.instances.length > 0)
    return release.instances.map((instance) => ({
      instanceId: instance.instanceId,
      name: short(instance.containerName),
      tag: instance.imageTag,
      digest: instance.digest,
      configId: configOf(instance.instanceId),
    }))
  return deployment.instances.map((instance) => ({
    instanceId: instance.id,
    name: instanceName(instance),
    tag: instance.image.tag ?? '-',
    configId: instance.config.id,
  }))
}

function lastTime(releases: readonly Release[] | undefined, number: number): number | null {
  const last = releases?.find(
    (release) => release.number < number && release.status === 'successful' && release.finishedAt,
  )
  return last ? releaseDurationMs(last) : null
}

type T = ReturnType<typeof useTranslation<['deployments', 'common']>>['t']

/** What answers during and after the release, which matters most in an incident. */
function serviceOf(
  deployment: Details,
  progress: Progress,
  t: T,
): { text: string; tone: 'good' | 'plain' | 'bad' } | null {
  const { running } = deployment
  if (progress.status === 'in-progress') {
    if (!running) return { text: t('service.first'), tone: 'plain' }
    return { text: t('service.keeps', { name: nameOf(running) }), tone: 'good' }
  }
  if (!running) return { text: t('service.none'), tone: 'bad' }
  // An earlier release does not show the current state, so the running containers come from the records.
  const isNewest = progress.try === deployment.lastTry
  return isNewest && progress.previousRestored === false
    ? { text: t('service.lost', { name: nameOf(running) }), tone: 'bad' }
    : { text: t('service.answers', { name: nameOf(running) }), tone: 'good' }

  /** Releases of one deployment have one version, and those of a project without versions too: their number distinguishes them. */
  function nameOf({ deploymentId, number, versionName }: NonNullable<Details['running']>): string {
    const hasVersions = deployment.project.type === 'versioned'
    return deploymentId !== deployment.id && hasVersions ? versionName : t('detail.release', { number })
  }
}

/** "2 images deployed in 14.3 s. hello-web was down for 12.1 s while its previous container stopped." */
function successText(
  rows: readonly { subject: RowSubject; instance: InstanceProgress | undefined }[],
  elapsedMs: number,
  t: T,
): string {
  const downtimes = rows.flatMap(({ subject, instance }) => {
    const down = downtimeMs(instance)
    return down === null ? [] : [t('result.downtime', { name: subject.name, time: duration(down) })]
  })
  return [t('result.successful', { count: rows.length, time: duration(elapsedMs) }), ...downtimes].join(' ')
}
