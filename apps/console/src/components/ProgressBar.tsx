import { cx } from './class-names.ts'

type Props = {
  /** 0 to 1 */ value: number
  label: string
  tone?: 'progress' | 'running' | 'failed' | 'accent'
  className?: string
}

export function ProgressBar({ value, label, tone = 'progress', className }: Props) {
  const percent = Math.round(Math.min(1, Math.max(0, value)) * 100)
  const tones = { progress: 'bg-progress', running: 'bg-running', failed: 'bg-failed', accent: 'bg-accent' }
  return (
    <span
      role="progressbar"
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
      className={cx('block h-1 overflow-hidden rounded-full bg-line', className)}
    >
      <span
        className={cx('block h-full rounded-full transition-[width] duration-200', tones[tone])}
        style={{ width: `${percent}%` }}
      />
    </span>
  )
}
