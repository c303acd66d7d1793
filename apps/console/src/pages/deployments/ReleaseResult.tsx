import { CircleCheck, CircleX } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from '../../components/class-names.ts'

/** How a release ended, in words, with what to do next. */
export function ReleaseResult({ failed, text, children }: { failed: boolean; text: string; children: ReactNode }) {
  const { t } = useTranslation('deployments')
  const Icon = failed ? CircleX : CircleCheck
  return (
    <section
      role="status"
      aria-label={t('result.label')}
      className={cx(
        'mb-4 flex flex-wrap items-center gap-3 rounded-box border px-3.5 py-3',
        failed ? 'border-failed/40 tinted-failed' : 'border-running/40 tinted-running',
      )}
    >
      <Icon aria-hidden className={cx('size-5!', failed ? 'text-failed' : 'text-running')} />
      <p className="min-w-0 flex-1 basis-64 font-strong">{text}</p>
      <div className="flex flex-wrap gap-2">{children}</div>
    </section>
  )
}
