import { useTranslation } from 'react-i18next'
import { useNow } from './RelativeTime.tsx'
import { absoluteTime, relativeTime } from './relative-time.ts'
import { Tooltip } from './Tooltip.tsx'

/** A time inside a sentence: "6 s ago", "just now"; the absolute one on hover. */
export function TimeAgo({ at }: { at: string }) {
  const { t } = useTranslation()
  const time = Date.parse(at)
  const text = relativeTime(time, useNow())
  return (
    <Tooltip content={absoluteTime(time)}>
      <time dateTime={at} className="tabular-nums">
        {text === 'now' ? t('justNow') : t('ago', { time: text })}
      </time>
    </Tooltip>
  )
}
