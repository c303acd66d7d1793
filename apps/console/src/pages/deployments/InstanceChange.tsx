import type { ResponseOf } from '@crux/contract'
import { PauseCircle, RefreshCw, TriangleAlert } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { duration } from '../../components/relative-time.ts'
import { StateMark } from '../../components/State.tsx'
import { type StatusStyle, statusStyle } from '../../components/status-styles.ts'
import { TextLink } from '../../components/TextLink.tsx'
import { changeLines, type PreviewInstance } from './change-lines.ts'
import { DiffLines } from './DiffLines.tsx'
import { instanceLink } from './field-link.ts'
import { KeepPortsOpen } from './KeepPortsOpen.tsx'

type Target = { teamSlug: string; deployment: ResponseOf<'deployments.get'> }

/** One container of a start: its action, its downtime, its warnings, and the difference. */
export function InstanceChange({ instance, target }: { instance: PreviewInstance; target?: Target }) {
  const { t } = useTranslation(['deployments', 'common'])
  const lines = changeLines(instance.changes)
  const silent = instance.silentPorts ?? []
  const expectedMs = Math.max(...silent.map(({ milliseconds }) => milliseconds))
  const longestMs = Math.max(
    ...silent.map(({ milliseconds, maximumMilliseconds = milliseconds }) => maximumMilliseconds),
  )
  return (
    <div className="px-3 py-2.5">
      <div className="flex flex-wrap items-center gap-x-3">
        <InstanceAction instance={instance} />
        <b className="mono min-w-0 font-semibold break-all">{instance.containerName}</b>
        {instance.action === 'replace' && silent.length === 0 && (
          <span className="text-ink-2">{t('changes.noGap')}</span>
        )}
      </div>
      {instance.action === 'replace-with-pause' && (
        <p className="mt-1 text-progress">
          {t('changes.pauses', { name: instance.containerName, reason: instance.reason ?? '' })}
        </p>
      )}
      {instance.action === 'create' && instance.reason && <p className="mt-1 text-ink-2">{instance.reason}</p>}
      {silent.length > 0 && (
        <p className="mt-1 text-progress">
          {t('changes.silent', {
            count: silent.length,
            ports: silent.map(({ port, protocol }) => (protocol === 'udp' ? `${port}/udp` : port)).join(', '),
            time: duration(expectedMs),
          })}
          {longestMs > expectedMs && ` ${t('changes.silentAtMost', { time: duration(longestMs) })}`}
        </p>
      )}
      {target && silent.some(({ protocol }) => protocol === 'tcp') && (
        <KeepPortsOpen {...target} instanceId={instance.instanceId} containerName={instance.containerName} />
      )}
      {instance.warnings?.map((warning) => {
        const link = target && instanceLink(target.teamSlug, target.deployment, instance.instanceId, warning.property)
        return (
          <p key={`${warning.property} ${warning.description}`} className="mt-1 flex items-start gap-2">
            <TriangleAlert aria-hidden className="mt-0.5 text-progress" />
            <span className="min-w-0 break-words">
              {warning.description}{' '}
              {link && (
                <TextLink {...link} inline className="whitespace-nowrap">
                  {t('changes.see')}
                </TextLink>
              )}
            </span>
          </p>
        )
      })}
      {lines.length > 0 && <DiffLines lines={lines} className="mt-2" />}
    </div>
  )
}

export function InstanceAction({ instance }: { instance: PreviewInstance }) {
  const { t } = useTranslation(['deployments', 'common'])
  return (
    <StateMark
      appearance={appearances[instance.action]}
      label={t(`changes.action.${instance.action}`)}
      reason={instance.reason}
    />
  )
}

const pausing: StatusStyle = { tone: 'progress', icon: PauseCircle }
const appearances: Record<PreviewInstance['action'], StatusStyle> = {
  create: statusStyle('deployment', 'preparing'),
  // Nothing has happened yet: no colour of a success.
  replace: { tone: 'ready', icon: RefreshCw },
  'replace-with-pause': pausing,
  keep: statusStyle('phase', 'waiting'),
}
