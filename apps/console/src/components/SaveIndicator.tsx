import { CircleAlert, CloudCheck, CloudOff, LoaderCircle } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { cx } from './class-names.ts'

export type SaveStatus = 'saved' | 'saving' | 'waiting' | 'held' | 'typed' | 'offline'

/** Shows whether changes are saved, being saved, impossible to save, waiting for a button, or kept in this page until the connection is back. */
export function SaveIndicator({ status }: { status: SaveStatus }) {
  const { t } = useTranslation()
  const appearances = {
    saved: { icon: CloudCheck, tone: 'text-ink-2' },
    saving: { icon: LoaderCircle, tone: 'text-ink-2' },
    waiting: { icon: LoaderCircle, tone: 'text-ink-2' },
    held: { icon: CircleAlert, tone: 'text-failed' },
    typed: { icon: CircleAlert, tone: 'text-progress' },
    offline: { icon: CloudOff, tone: 'text-progress' },
  }
  const { icon: Icon, tone } = appearances[status]
  const busy = status === 'saving' || status === 'waiting'
  return (
    <span
      role="status"
      data-save={status}
      className={cx('inline-flex items-center gap-2 text-small whitespace-nowrap', tone)}
    >
      <Icon aria-hidden className={busy ? 'animate-[turn_.9s_linear_infinite]' : undefined} />
      {t(`save_.${status}`)}
    </span>
  )
}
