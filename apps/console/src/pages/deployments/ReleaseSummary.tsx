import { Info, ShieldCheck, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from '../../components/class-names.ts'
import { duration } from '../../components/relative-time.ts'
import { State } from '../../components/State.tsx'
import type { Progress } from './progress.ts'

type Props = {
  progress: Progress
  /** Null if it is no longer known. */
  verified: number | null
  total: number
  share: number
  elapsedMs: number | null
  lastTimeMs: number | null
  /** A text that says what answers now. */
  service: { text: string; tone: 'good' | 'plain' | 'bad' } | null
  /** The queue position while it waits. */
  queue?: ReactNode
}

/** The strip above the images: status, progress, elapsed time, and what answers meanwhile. */
export function ReleaseSummary({ progress, verified, total, share, elapsedMs, lastTimeMs, service, queue }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const busy = progress.status === 'in-progress'
  const tone =
    progress.status === 'failed' ? 'bg-failed' : progress.status === 'successful' ? 'bg-running' : 'bg-progress'
  const Icon = service?.tone === 'good' ? ShieldCheck : service?.tone === 'bad' ? TriangleAlert : Info
  return (
    <section
      aria-label={t('progress.summary')}
      className="relative mb-4 overflow-hidden rounded-box border border-line bg-surface"
    >
      <dl className="grid grid-cols-2 gap-x-9 gap-y-2.5 px-3.5 pt-3 pb-[15px] md:flex md:flex-wrap">
        <Fact label={t('list.status')}>
          <State kind="deployment" value={progress.status} />
        </Fact>
        <Fact label={t('progress.images')}>
          {verified === null ? total : t('progress.verified', { done: verified, total })}
        </Fact>
        <Fact label={t('progress.elapsed')}>{elapsedMs === null ? '-' : duration(elapsedMs)}</Fact>
        <Fact label={t('progress.lastTime')}>{lastTimeMs === null ? '-' : duration(lastTimeMs)}</Fact>
        {queue && <Fact label={t('progress.queue')}>{queue}</Fact>}
        {service && (
          <Fact label={t('progress.service')} wide>
            <span className={cx('flex items-center gap-2', tones[service.tone])}>
              <Icon aria-hidden />
              {service.text}
            </span>
          </Fact>
        )}
      </dl>
      <span
        role="progressbar"
        aria-label={t('list.progress')}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
        className="absolute inset-x-0 bottom-0 block h-[3px] bg-line"
      >
        <span
          className={cx('block h-full transition-[width] duration-300', tone)}
          style={{ width: `${busy ? share * 100 : progress.try === 0 ? 0 : 100}%` }}
        />
      </span>
    </section>
  )
}

const tones = { good: 'text-running', plain: 'text-ink-2', bad: 'text-progress' }

function Fact({ label, children, wide }: { label: string; children: ReactNode; wide?: boolean }) {
  return (
    <div className={cx('grid content-start gap-0.5', wide && 'max-md:col-span-2')}>
      <dt className="text-small text-ink-2">{label}</dt>
      <dd className="font-semibold tabular-nums">{children}</dd>
    </div>
  )
}
