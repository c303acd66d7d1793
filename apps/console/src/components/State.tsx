import { useTranslation } from 'react-i18next'
import { cx } from './class-names.ts'
import { lookOf, type StateKind, type StateLook, type StateValue, type Tone } from './state-looks.ts'
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

/** A state as icon and word. `compact` keeps the word for screen readers and hover only. */
export function State<K extends StateKind>({ kind, value, reason, compact }: Props<K>) {
  const { i18n } = useTranslation()
  const key = `state.${kind}.${value}`
  const word = i18n.exists(key) ? i18n.t(key as 'state.deployment.failed') : value
  return <StateMark look={lookOf(kind, value)} word={word} reason={reason} compact={compact} />
}

/** For states whose words come from elsewhere ("Exited 137", "Verified"). */
export function StateMark({
  look,
  word,
  reason,
  compact,
}: {
  look: StateLook
  word: string
  reason?: string | null
  compact?: boolean
}) {
  const Icon = look.icon
  const mark = (
    <span
      className={cx('inline-flex items-center gap-1.5 align-bottom font-strong whitespace-nowrap', tones[look.tone])}
    >
      <Icon aria-hidden className={cx('size-3.5! stroke-[2.1]!', look.busy && 'animate-[turn_2.4s_linear_infinite]')} />
      <span className={compact ? 'sr-only' : undefined}>{word}</span>
    </span>
  )
  return <Tooltip content={reason ?? (compact ? word : undefined)}>{mark}</Tooltip>
}
