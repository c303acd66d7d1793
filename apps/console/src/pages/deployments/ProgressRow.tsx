import { ChevronDown, ChevronRight, CircleX, HeartPulse, SlidersHorizontal, SquareTerminal } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { ButtonLink } from '../../components/Button.tsx'
import { cx } from '../../components/class-names.ts'
import { duration } from '../../components/relative-time.ts'
import { StateMark } from '../../components/State.tsx'
import { Tag } from '../../components/Tag.tsx'
import { links } from '../../routing/links.ts'
import { bytesText, countBytes } from './bytes.ts'
import { type InstanceView, phasesToSuccess, type Step } from './instance-view.ts'
import type { InstanceProgress } from './progress.ts'
import { Reason } from './Reason.tsx'

export type RowSubject = { instanceId: string; name: string; tag: string; digest?: string | null; configId?: string }
type Props = {
  subject: RowSubject
  instance: InstanceProgress | undefined
  view: InstanceView
  now: number
  /** The sentence of the result above: a row does not repeat it. */
  said: string
  open: boolean
  onToggle: () => void
  target: { teamSlug: string; nodeId: string; prefix: string }
}

/** The text that fits beside the name; a longer sentence is below. */
const shortDetail = 36

/** One image of the release: what it is at, each step with its time, and what it waits for. */
export function ProgressRow({ subject, instance, view, now, said, open, onToggle, target }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const unchanged = view.word === 'unchanged'
  const Chevron = open ? ChevronDown : ChevronRight
  const detail = view.current?.detail && !said.includes(view.current.detail) ? view.current.detail : null
  const failed = view.word === 'failed'
  return (
    <li data-instance={subject.name} className="border-b border-line px-3 py-2.5 last:border-0">
      <button
        type="button"
        aria-expanded={open}
        onClick={onToggle}
        className="flex w-full flex-wrap items-center gap-x-2 rounded-sm text-left"
      >
        <span className="w-24 shrink-0">
          <StateMark appearance={view.appearance} label={t(`progress.word.${view.word}`)} />
        </span>
        <ImageName subject={subject} />
        <span className="ml-auto text-small text-ink-2 tabular-nums">
          <RightText view={view} instance={instance} now={now} />
        </span>
        <Chevron aria-hidden className="text-ink-2 max-md:hidden" />
      </button>
      {!unchanged && (
        <ol
          // Equal columns, unless a phone is too narrow for the longest name.
          className="mt-2 grid auto-cols-[minmax(min-content,1fr)] grid-flow-col gap-1 md:ml-[104px]"
          aria-label={t('progress.steps', { name: subject.name })}
        >
          {view.steps.map((step) => (
            <StepBar key={step.phase} step={step} now={now} />
          ))}
        </ol>
      )}
      {detail && (open || failed || detail.length > shortDetail) && (
        <div className="mt-2 flex items-center gap-2 rounded-md bg-sunken px-2.5 py-2 text-small text-ink-2 md:ml-[104px]">
          {failed ? (
            <CircleX aria-hidden className="text-failed" />
          ) : (
            <HeartPulse aria-hidden className="text-progress" />
          )}
          <div className="min-w-0 break-words">{failed ? <Reason text={detail} /> : detail}</div>
        </div>
      )}
      {open && (
        <div className="mt-2 flex flex-wrap gap-2 md:ml-[104px]">
          {instance?.container?.reason && (
            <span className="w-full text-small text-ink-2">{instance.container.reason}</span>
          )}
          <ButtonLink
            {...links.containerLog(target.teamSlug, target.nodeId, { prefix: target.prefix, name: subject.name })}
            size="sm"
            icon={SquareTerminal}
          >
            {t('progress.containerLog')}
          </ButtonLink>
          {subject.configId && (
            <ButtonLink
              {...links.containerConfiguration(target.teamSlug, subject.configId)}
              size="sm"
              icon={SlidersHorizontal}
            >
              {t('detail.instanceConfig')}
            </ButtonLink>
          )}
        </div>
      )}
    </li>
  )
}

/** The name of an image in a release. */
export function ImageName({ subject: { name, tag, digest } }: { subject: RowSubject }) {
  return (
    <>
      <b className="mono font-semibold">{name}</b>
      <Tag>{tag}</Tag>
      {digest && (
        <span className="mono text-ink-3 max-md:hidden" title={digest}>
          {digest.slice(0, 13)}
        </span>
      )}
    </>
  )
}

function StepBar({ step, now }: { step: Step; now: number }) {
  const { t } = useTranslation(['deployments', 'common'])
  const share = step.state === 'running' ? (step.share ?? 0.6) : 1
  return (
    <li className="grid content-start gap-px text-small whitespace-nowrap text-ink-3">
      <span aria-hidden className="block h-1 overflow-hidden rounded-full bg-line">
        <span
          className={cx('block h-full rounded-full transition-[width] duration-300', bars[step.state])}
          style={{ width: `${share * 100}%` }}
        />
      </span>
      <span className={cx('mt-1', words[step.state])}>
        {t(`progress.phase.${step.phase}`)}
        <span className="sr-only"> {t(`common:state.phase.${step.state}`)}</span>
      </span>
      <span className={cx('truncate tabular-nums max-md:hidden', step.state === 'running' && 'text-ink-2')}>
        <StepTime step={step} now={now} />
      </span>
    </li>
  )
}

const bars = {
  done: 'bg-running',
  // Green means that work was done.
  skipped: 'bg-idle/50',
  running: 'bg-progress',
  failed: 'bg-failed',
  waiting: 'bg-transparent',
}
const words = {
  done: 'text-ink-2',
  skipped: 'text-ink-3',
  running: 'text-progress font-semibold',
  failed: 'text-failed font-semibold',
  waiting: '',
}

function StepTime({ step, now }: { step: Step; now: number }) {
  const { t } = useTranslation(['deployments', 'common'])
  if (step.state === 'skipped') return step.phase === 'pull' ? t('progress.cached') : t('progress.nothing')
  if (step.state === 'waiting' || step.startedAt === undefined) return null
  // The step was reported only at its end, so its duration is unknown.
  if (step.endedAt === step.startedAt) return null
  return duration(Math.max(0, (step.endedAt ?? now) - step.startedAt))
}

type RightTextProps = { view: InstanceView; instance: InstanceProgress | undefined; now: number }

function RightText({ view, instance, now }: RightTextProps) {
  const { t } = useTranslation(['deployments', 'common'])
  if (view.word === 'unchanged') return t('progress.kept')
  if (view.word === 'undone') return t('progress.putBack')
  if (view.word === 'untouched') return null
  if (view.word === 'resolve') return t('progress.asking')
  const pull = instance?.pull
  if (view.word === 'pull' && pull)
    return pull.total > 0 ? countBytes(pull.current, pull.total) : bytesText(pull.current)
  // Only a short detail fits here; a long one is below.
  const detail =
    (view.word === 'failed' ? null : view.current?.detail) ??
    instance?.phases.verify?.detail ??
    (view.word === 'exited' ? instance?.container?.reason : null)
  if (detail && detail.length <= shortDetail) return detail
  const times = phasesToSuccess.flatMap((phase) => {
    const step = view.steps.find((candidate) => candidate.phase === phase)
    return step?.startedAt === undefined ? [] : [{ from: step.startedAt, to: step.endedAt ?? now }]
  })
  const first = times[0]
  if (!first) return null
  return duration(Math.max(0, Math.max(...times.map((time) => time.to)) - first.from))
}
