import { CircleCheck, CircleX, LoaderCircle } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from '../../components/class-names.ts'

const appearances = {
  failed: { icon: CircleX, box: 'border-failed/40 tinted-failed', mark: 'text-failed' },
  successful: { icon: CircleCheck, box: 'border-running/40 tinted-running', mark: 'text-running' },
  'in-progress': { icon: LoaderCircle, box: 'border-line bg-surface', mark: 'text-progress' },
}

type Props = { status: keyof typeof appearances; text: ReactNode; children?: ReactNode }

/**
 * How a release ended, in words, with what to do next. It is there from the start of the release, so that the images and the log
 * below it do not move when the release ends.
 */
export function ReleaseResult({ status, text, children }: Props) {
  const { t } = useTranslation('deployments')
  const { icon: Icon, box, mark } = appearances[status]
  return (
    <section
      role="status"
      aria-label={t('result.label')}
      className={cx(
        'mb-4 flex min-h-[56px] flex-wrap items-center gap-3 rounded-box border px-3.5 py-3 max-md:min-h-[132px] max-md:content-start max-md:items-start',
        box,
      )}
    >
      <Icon
        aria-hidden
        className={cx('size-5!', mark, status === 'in-progress' && 'animate-[turn_.9s_linear_infinite]')}
      />
      <div className="min-w-0 flex-1 basis-64 font-strong break-words">{text}</div>
      <div className="flex flex-wrap gap-2 empty:hidden">{children}</div>
    </section>
  )
}
