import { useTranslation } from 'react-i18next'
import { Dialog } from '../../components/Dialog.tsx'
import { absoluteTime } from '../../components/relative-time.ts'
import { State } from '../../components/State.tsx'
import type { Delivery } from './deliveries.ts'
import { useDeliveryResult } from './use-delivery-result.ts'

/** One delivery in full. */
export function DeliveryDialog({ delivery, onClose }: { delivery: Delivery; onClose: () => void }) {
  const { t } = useTranslation('notifications')
  const result = useDeliveryResult()(delivery)
  const { status, attempts, recipient, text } = delivery
  const times = [
    [t('log.created'), delivery.createdAt],
    [t('log.lastAttempt'), delivery.lastAttemptAt],
    [t('log.next'), status === 'pending' && delivery.nextAttemptAt],
    [t('log.finished'), delivery.finishedAt],
  ] as const
  const facts = [
    [t('log.status'), <State key="status" kind="delivery" value={status} />],
    ...(result ? [[t('log.result'), result] as const] : []),
    [t('log.attempts'), attempts],
    ...(recipient ? [[t('log.recipient'), recipient] as const] : []),
    ...times.flatMap(([label, at]) => (at ? [[label, absoluteTime(Date.parse(at))] as const] : [])),
  ] as const
  return (
    <Dialog open onClose={onClose} title={t(`event.${delivery.event}`)} width="wide:w-[640px]">
      <dl className="mb-3 grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1">
        {facts.map(([label, value]) => (
          <div key={label} className="contents">
            <dt className="text-ink-2">{label}</dt>
            <dd className="min-w-0 tabular-nums wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
      {status !== 'delivered' && <p className="mb-3 text-ink-2">{t(`statusHelp.${status}`)}</p>}
      <h3 className="mb-1 text-small text-ink-2">{t('log.text')}</h3>
      <p className="max-h-[40dvh] overflow-y-auto rounded-box border border-line bg-sunken px-3 py-2 wrap-anywhere whitespace-pre-wrap">
        {text}
      </p>
    </Dialog>
  )
}
