import type { ResponseOf } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { ImageName, ProgressRow } from './ProgressRow.tsx'
import type { ProgressRowState } from './progress-rows.ts'

export type Toggled = Readonly<Record<string, boolean>>

type Props = {
  teamSlug: string
  deployment: ResponseOf<'deployments.get'>
  rows: readonly ProgressRowState[]
  /** The names alone, for a release whose progress was deleted with its log. */
  namesOnly: boolean
  now: number
  /** The reason of the release, which a row does not repeat. */
  reason: string
  /** The rows that are open, by instance. */
  toggled: Toggled
  onToggle: (toggled: Toggled) => void
}

/** The images of a release, each with its phases. */
export function ProgressRows({ teamSlug, deployment, rows, namesOnly, now, reason, toggled, onToggle }: Props) {
  const { t } = useTranslation('deployments')
  return (
    <ol aria-label={t('progress.images')} className="rounded-box border border-line bg-surface">
      {rows.map(({ subject, instance, view }) =>
        namesOnly ? (
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
            said={reason}
            open={toggled[subject.instanceId] ?? false}
            onToggle={() => onToggle({ ...toggled, [subject.instanceId]: !toggled[subject.instanceId] })}
            target={{ teamSlug, nodeId: deployment.node.id, prefix: deployment.prefix }}
          />
        ),
      )}
      {rows.length === 0 && <li className="px-3 py-2.5 text-ink-2">{t('detail.noImages')}</li>}
    </ol>
  )
}
