import { TriangleAlert } from 'lucide-react'
import { useTranslation } from 'react-i18next'

/** Why Crux switched the notification off. The server's text says what to do about it. */
export function NotificationProblem({ problem }: { problem: string }) {
  const { t } = useTranslation('notifications')
  return (
    <div role="note" className="mb-4 flex items-start gap-2 rounded-md px-3 py-2 tinted-failed">
      <TriangleAlert aria-hidden className="mt-0.5 text-failed" />
      <div className="min-w-0">
        <p className="font-strong">{t('problem')}</p>
        <p className="text-ink-2 wrap-anywhere">{problem}</p>
      </div>
    </div>
  )
}
