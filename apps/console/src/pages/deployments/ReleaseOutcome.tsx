import type { ResponseOf } from '@crux/contract'
import { RotateCw, Server } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button, ButtonLink } from '../../components/Button.tsx'
import { duration } from '../../components/relative-time.ts'
import { links } from '../../routing/links.ts'
import { FailureActions } from './FailureActions.tsx'
import { downtimeMs } from './instance-view.ts'
import { OpenService } from './OpenService.tsx'
import type { Progress } from './progress.ts'
import type { ProgressRowState } from './progress-rows.ts'
import { Reason } from './Reason.tsx'
import { ReleaseResult } from './ReleaseResult.tsx'
import type { Release } from './release.ts'
import { failureCause, rollBackTarget } from './release-failure.ts'
import type { ServiceAddress } from './service-address.ts'
import { shownAddresses } from './use-service-addresses.ts'

type Details = ResponseOf<'deployments.get'>
type RetryAction = { run: () => void; reason: string | null; busy: boolean }
type Shared = { teamSlug: string; deployment: Details; rows: readonly ProgressRowState[]; again: RetryAction }

type FailureProps = Shared & {
  progress: Progress
  releases: readonly Release[]
  release: Release | undefined
  showLinesOf: (instanceId: string) => void
  rollBackDenied: string | null
  onRollBack: (target: Release) => void
}

/** Why a release failed, and what to do about it. */
export function ReleaseFailure(props: FailureProps) {
  const { teamSlug, deployment, rows, again, progress, releases, release, showLinesOf, rollBackDenied, onRollBack } =
    props
  const { t } = useTranslation('deployments')
  const failed = rows.find((row) => row.view.word === 'failed')
  const hasContainerLines = progress.events.some(
    (event) => event.log?.fromContainer && event.instanceId === failed?.subject.instanceId,
  )
  const target =
    deployment.status === 'failed'
      ? rollBackTarget(releases, {
          number: progress.try,
          previousRestored: progress.previousRestored,
          isRunning: Boolean(deployment.running),
        })
      : undefined
  const reason = progress.reason ?? release?.reason
  return (
    <ReleaseResult
      status="failed"
      text={<Reason text={reason ?? t('result.failed')} names={rows.map(({ subject }) => subject.name)} />}
    >
      <FailureActions
        teamSlug={teamSlug}
        deployment={deployment}
        cause={failureCause(failed?.view.failedPhase, reason ?? '')}
        instance={failed ? { id: failed.subject.instanceId, name: failed.subject.name } : null}
        showLastLines={failed && hasContainerLines ? () => showLinesOf(failed.subject.instanceId) : null}
        again={again}
        rollBack={target ? { number: target.number, run: () => onRollBack(target), reason: rollBackDenied } : null}
      />
    </ReleaseResult>
  )
}

type SuccessProps = Shared & {
  /** Null until the release's own times are loaded: the events use the agent's clock, and a release has one duration everywhere. */
  tookMs: number | null
  addresses: readonly ServiceAddress[]
}

/** What a successful release deployed, and where it answers. */
export function ReleaseSuccess({ teamSlug, deployment, rows, again, tookMs, addresses }: SuccessProps) {
  const { t } = useTranslation(['deployments', 'common'])
  return (
    <ReleaseResult status="successful" text={successText(rows, tookMs, t)}>
      {addresses.slice(0, shownAddresses).map((address, index) => (
        <OpenService key={address.url} address={address} main={index === 0} />
      ))}
      <ButtonLink {...links.node(teamSlug, deployment.node.id, { prefix: deployment.prefix })} icon={Server}>
        {t('result.node', { node: deployment.node.name })}
      </ButtonLink>
      {again.reason === null && (
        <Button icon={RotateCw} busy={again.busy} onClick={again.run}>
          {t('action.again')}
        </Button>
      )}
    </ReleaseResult>
  )
}

type T = ReturnType<typeof useTranslation<['deployments', 'common']>>['t']

/** "2 images deployed in 14.3 s. hello-web was down for 12.1 s while its previous container stopped." */
function successText(rows: readonly ProgressRowState[], tookMs: number | null, t: T): string {
  const downtimes = rows.flatMap(({ subject, instance }) => {
    const down = downtimeMs(instance)
    return down === null ? [] : [t('result.downtime', { name: subject.name, time: duration(down) })]
  })
  const deployed =
    tookMs === null
      ? t('result.successfulUntimed', { count: rows.length })
      : t('result.successful', { count: rows.length, time: duration(tookMs) })
  return [deployed, ...downtimes].join(' ')
}
