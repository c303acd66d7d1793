import { CircleX, PauseCircle, Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { cx } from '../../components/class-names.ts'
import { StateMark } from '../../components/State.tsx'
import { lookOf, type StateLook } from '../../components/state-looks.ts'
import { type ChangeLine, changeLines, type Preview, type PreviewInstance } from './change-lines.ts'

/** What a start would do: per container, then what goes, then what has to be settled first. */
export function WhatChanges({ preview }: { preview: Preview }) {
  const { t } = useTranslation(['deployments', 'common'])
  const changing = preview.instances.filter((instance) => instance.action !== 'keep')
  const kept = preview.instances.filter((instance) => instance.action === 'keep')
  return (
    <div className="divide-y divide-line">
      {preview.problems.map((problem) => (
        <p
          key={`${problem.property} ${problem.description}`}
          className="flex items-start gap-2 px-3 py-2.5 text-failed"
        >
          <CircleX aria-hidden className="mt-0.5" />
          <span>
            {nameOf(preview, problem.instanceId)}
            {problem.description}
          </span>
        </p>
      ))}
      {changing.map((instance) => (
        <InstanceChange key={instance.instanceId} instance={instance} />
      ))}
      {preview.removed.map((name) => (
        <p key={name} className="flex items-center gap-2 px-3 py-2.5">
          <Trash2 aria-hidden className="text-progress" />
          {t('changes.removed', { name })}
        </p>
      ))}
      {kept.length > 0 && (
        <p className="px-3 py-2.5 text-ink-2">
          {t('changes.kept', { count: kept.length, names: kept.map((instance) => instance.containerName).join(', ') })}
        </p>
      )}
    </div>
  )
}

export function InstanceAction({ instance }: { instance: PreviewInstance }) {
  const { t } = useTranslation(['deployments', 'common'])
  return (
    <StateMark look={looks[instance.action]} word={t(`changes.action.${instance.action}`)} reason={instance.reason} />
  )
}

/** The two sides of each change, in mono. */
export function DiffLines({ lines, className }: { lines: readonly ChangeLine[]; className?: string }) {
  return (
    <pre className={cx('mono overflow-x-auto rounded-md bg-sunken py-1.5', className)}>
      {lines.map((line) => (
        <span
          key={line.sign + line.text}
          className={cx(
            'block px-2 break-all whitespace-pre-wrap',
            line.sign === '+' ? 'tinted-running text-running' : 'tinted-failed text-failed',
          )}
        >
          {line.sign} {line.text}
        </span>
      ))}
    </pre>
  )
}

const pausing: StateLook = { tone: 'progress', icon: PauseCircle }
const looks: Record<PreviewInstance['action'], StateLook> = {
  create: lookOf('deployment', 'preparing'),
  replace: lookOf('phase', 'done'),
  'replace-with-pause': pausing,
  keep: lookOf('phase', 'waiting'),
}

function InstanceChange({ instance }: { instance: PreviewInstance }) {
  const { t } = useTranslation(['deployments', 'common'])
  const lines = changeLines(instance.changes)
  return (
    <div className="px-3 py-2.5">
      <div className="flex flex-wrap items-center gap-x-3">
        <InstanceAction instance={instance} />
        <b className="mono font-semibold">{instance.containerName}</b>
        {instance.action === 'replace' && <span className="text-ink-2">{t('changes.noGap')}</span>}
      </div>
      {instance.action === 'replace-with-pause' && (
        <p className="mt-1 text-progress">
          {t('changes.pauses', { name: instance.containerName, reason: instance.reason ?? '' })}
        </p>
      )}
      {instance.action === 'create' && instance.reason && <p className="mt-1 text-ink-2">{instance.reason}</p>}
      {lines.length > 0 && <DiffLines lines={lines} className="mt-2" />}
    </div>
  )
}

function nameOf(preview: Preview, instanceId: string | null | undefined): string {
  const name = preview.instances.find((instance) => instance.instanceId === instanceId)?.containerName
  return name ? `${name}: ` : ''
}
