import { CircleCheck, CircleX, Send } from 'lucide-react'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { queryClient, queryKey, useCall } from '../../api/client.ts'
import { Button } from '../../components/Button.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { describeError } from '../../errors/describe-error.ts'

/** A double click must not send two messages. */
const throttleMs = 500

type Result = { at: string; error?: { text: string; requestId?: string } }
type Test = { send: () => void; busy: boolean; denied: string | null; result: Result | null }

/** Sends a test message the way that events go, and keeps its result for the page. */
export function useTest(params: { teamSlug: string; notificationId: string }): Test {
  const [result, setResult] = useState<Result | null>(null)
  const sentAt = useRef(0)
  const test = useCall('notifications.test', { toast: false })
  const send = () => {
    if (Date.now() - sentAt.current < throttleMs) return
    sentAt.current = Date.now()
    setResult(null)
    test.mutate(
      { params },
      {
        onSettled: (_, error) => {
          setResult({ at: new Date().toISOString(), ...(error && { error: describeError(error) }) })
          // The log has a new entry, and an address that is gone switches the notification off.
          for (const operation of ['notifications.deliveries', 'notifications.get', 'notifications.list'] as const)
            void queryClient.invalidateQueries({ queryKey: queryKey(operation) })
        },
      },
    )
  }
  return { send, busy: test.isPending, denied: test.denied, result }
}

export function TestButton({ test: { send, busy, denied } }: { test: Test }) {
  const { t } = useTranslation('notifications')
  return (
    <Button icon={Send} busy={busy} disabledReason={denied} onClick={send}>
      {t(busy ? 'test.sending' : 'test.action')}
    </Button>
  )
}

/** Whether the last test message arrived, and if not, why. */
export function TestResult({ test: { result } }: { test: Test }) {
  const { t } = useTranslation(['notifications', 'common'])
  const Icon = result?.error ? CircleX : CircleCheck
  return (
    // Always there, so that screen readers announce what appears in it.
    <div role="status" aria-label={t('test.label')}>
      {result && (
        <div
          className={`mb-4 flex items-start gap-2 rounded-md px-3 py-2 ${result.error ? 'tinted-failed' : 'bg-sunken'}`}
        >
          <Icon aria-hidden className={`mt-0.5 ${result.error ? 'text-failed' : 'text-running'}`} />
          <div className="min-w-0">
            <p>
              <span className="font-strong">{t(result.error ? 'test.failed' : 'test.delivered')}</span>{' '}
              <span className="text-ink-2">
                <TimeAgo at={result.at} />
              </span>
            </p>
            {result.error && <p className="wrap-anywhere text-ink-2">{result.error.text}</p>}
            {result.error?.requestId && (
              <p className="text-small text-ink-3">
                {t('common:error.request')} <code>{result.error.requestId}</code>
              </p>
            )}
          </div>
        </div>
      )}
    </div>
  )
}
