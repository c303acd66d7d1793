import { findNextFreeze } from '@crux/rules'
import { Pencil, Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useCall } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { useNow } from '../../components/RelativeTime.tsx'
import { Pill } from '../../components/Tag.tsx'
import {
  describeTimes,
  type EnvironmentParams,
  freezeQueries,
  toMinute,
  type Window,
} from '../../forms/freeze-times.ts'

type Props = { params: EnvironmentParams; window: Window; onEdit: () => void }

/** One window: why and when it freezes, and when it does next. */
export function FreezeWindowRow({ params, window, onEdit }: Props) {
  const { t } = useTranslation('freeze')
  const editDenied = useDenied('packages.update-freeze-window')
  const remove = useCall('packages.delete-freeze-window', { stale: freezeQueries, done: t('delete.done') })
  const times = describeTimes(window, t)
  const question = {
    title: t('delete.title'),
    text: t('delete.text', { times }),
    action: t('delete.action'),
    danger: true,
  }
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 px-3 py-2.5">
      <div className="min-w-0 flex-1 basis-60 wrap-anywhere">
        <p className="font-strong whitespace-pre-wrap">{window.reason}</p>
        <p className="text-ink-2 tabular-nums">{times}</p>
      </div>
      <WindowState window={window} />
      <div className="flex gap-2">
        <Button size="sm" icon={Pencil} disabledReason={editDenied} onClick={onEdit}>
          {t('edit')}
        </Button>
        <Button
          size="sm"
          icon={Trash2}
          busy={remove.isPending}
          disabledReason={remove.denied}
          onClick={() => void remove.ask(question, { params: { ...params, windowId: window.id } })}
        >
          {t('delete.button')}
        </Button>
      </div>
    </li>
  )
}

function WindowState({ window }: { window: Window }) {
  const { t } = useTranslation('freeze')
  const now = new Date(useNow())
  const next = findNextFreeze(window, now)
  if (!next) {
    const isBroken = window.kind === 'weekly'
    return <Pill tone={isBroken ? 'failed' : 'past'}>{t(isBroken ? 'broken' : 'ended')}</Pill>
  }
  if (next.from > now) return <Pill>{t('next', { time: toMinute(next.from) })}</Pill>
  return <Pill tone="accent">{t('active', { time: toMinute(next.until) })}</Pill>
}
