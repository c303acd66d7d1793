import type { ResponseOf } from '@crux/contract'
import { TriangleAlert } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useNow } from '../../components/RelativeTime.tsx'
import { absoluteTime } from '../../components/relative-time.ts'
import { TimeAgo } from '../../components/TimeAgo.tsx'

/** Shows why the local agent ended, since when it fails, and its next start; hidden while it runs. */
export function LocalAgentEnd({ localAgent }: { localAgent: ResponseOf<'nodes.get'>['localAgent'] }) {
  const { t } = useTranslation('nodes')
  const now = useNow()
  const { lastEnd, running } = localAgent
  if (!lastEnd || !running) return null
  const { since, at, reason, nextStartAt } = lastEnd
  const seconds = nextStartAt ? Math.ceil(Math.max(0, Date.parse(nextStartAt) - now) / 1_000) : 0
  return (
    <p className="mb-3 flex items-start gap-2 rounded-md px-3 py-2 tinted-failed">
      <TriangleAlert aria-hidden className="mt-0.5 shrink-0 text-failed" />
      <span className="min-w-0 flex-1 wrap-anywhere">
        {t('localAgent.ended')} <TimeAgo at={at} />: {reason}.{' '}
        {seconds > 0 ? t('localAgent.nextStart', { count: seconds }) : t('localAgent.starting')}
        {since !== at && ` ${t('localAgent.since', { since: absoluteTime(Date.parse(since)) })}`}
      </span>
    </p>
  )
}
