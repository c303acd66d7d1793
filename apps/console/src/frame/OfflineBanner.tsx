import { WifiOff } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { queryClient } from '../api/client.ts'
import { live, useLinkStatus } from '../api/live.ts'
import { Button } from '../components/Button.tsx'
import { absoluteTime } from '../components/relative-time.ts'

/** How long the live channel may be unavailable before the page is marked as stale. */
const graceMs = 3_000

/** Shows since when the page may be out of date, and offers a retry. When the channel is back, everything is refetched. */
export function OfflineBanner() {
  const { t } = useTranslation()
  const status = useLinkStatus()
  const isDisconnected = status === 'waiting' || status === 'lost'
  const [since, setSince] = useState<number | null>(null)
  const [shown, setShown] = useState(false)

  useEffect(() => {
    if (status === 'open') {
      setShown(false)
      setSince((before) => {
        // Events in between were missed.
        if (before !== null) void queryClient.invalidateQueries()
        return null
      })
    } else if (isDisconnected) setSince((before) => before ?? Date.now())
  }, [status, isDisconnected])

  useEffect(() => {
    if (since === null) return
    const timer = setTimeout(() => setShown(true), graceMs)
    return () => clearTimeout(timer)
  }, [since])

  if (!shown || since === null) return null
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-2 gap-y-1 border-b border-line tinted-progress px-5 py-1.5 max-md:px-3"
    >
      <WifiOff aria-hidden className="text-progress" />
      <strong className="font-strong">{t('offline.title')}</strong>
      <span className="text-ink-2">{t('offline.text', { time: absoluteTime(since).slice(11) })}</span>
      <Button size="sm" className="ml-auto" busy={status === 'connecting'} onClick={() => live.reset()}>
        {t('offline.now')}
      </Button>
    </div>
  )
}
