import { useTranslation } from 'react-i18next'
import { cx } from './class-names.ts'
import { type StateKind, type StateValue, type StatusStyle, statusStyle, type Tone } from './status-styles.ts'
import { Tooltip } from './Tooltip.tsx'

const tones: Record<Tone, string> = {
  ready: 'text-ready',
  running: 'text-running',
  progress: 'text-progress',
  failed: 'text-failed',
  past: 'text-past',
  idle: 'text-idle',
}

type Props<K extends StateKind> = { kind: K; value: StateValue<K>; reason?: string | null; compact?: boolean }

/** A status as icon and label. `compact` shows the label to screen readers and on hover only. */
export function State<K extends StateKind>({ kind, value, reason, compact }: Props<K>) {
  const { i18n } = useTranslation()
  const key = `state.${kind}.${value}`
  const label = i18n.exists(key) ? i18n.t(key as 'state.deployment.failed') : value
  return <StateMark appearance={statusStyle(kind, value)} label={label} reason={reason} compact={compact} />
}

type StateMarkProps = { appearance: StatusStyle; label: string; reason?: string | null; compact?: boolean }

/** For a status with a label of its own ("Exited 137", "Verified"). */
export function StateMark({ appearance, label, reason, compact }: StateMarkProps) {
  const Icon = appearance.icon
  const mark = (
    <span
      className={cx(
        'inline-flex items-center gap-1.5 align-bottom font-strong whitespace-nowrap',
        tones[appearance.tone],
      )}
    >
      <Icon
        aria-hidden
        className={cx('size-3.5! stroke-[2.1]!', appearance.busy && 'animate-[turn_2.4s_linear_infinite]')}
      />
      <span className={compact ? 'sr-only' : undefined}>{label}</span>
    </span>
  )
  return <Tooltip content={reason ?? (compact ? label : undefined)}>{mark}</Tooltip>
}
