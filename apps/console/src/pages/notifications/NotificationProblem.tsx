import type { NotificationType } from '@crux/contract'
import { TriangleAlert } from 'lucide-react'
import { useTranslation } from 'react-i18next'

/** Why Crux switched the notification off, and what to do about it. */
export function NotificationProblem({ problem, type }: { problem: string; type: NotificationType }) {
  const { t } = useTranslation('notifications')
  return (
    <div role="note" className="mb-4 flex items-start gap-2 rounded-md px-3 py-2 tinted-failed">
      <TriangleAlert aria-hidden className="mt-0.5 text-failed" />
      <div className="min-w-0">
        <p className="font-strong wrap-anywhere">{t('problem.title', { problem })}</p>
        <p className="text-ink-2">{t(type === 'email' ? 'problem.wayOutEmail' : 'problem.wayOut')}</p>
      </div>
    </div>
  )
}
