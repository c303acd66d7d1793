import { useTranslation } from 'react-i18next'
import { CodeBlock } from '../../components/CodeBlock.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { absoluteTime } from '../../components/relative-time.ts'
import { type Entry, getOperation } from './entry.ts'
import { useEventLabels } from './use-event-labels.ts'

/** One entry in full. */
export function EntryDialog({ entry, onClose }: { entry: Entry; onClose: () => void }) {
  const { t } = useTranslation('audit')
  const getLabel = useEventLabels()
  const text = JSON.stringify(entry.data ?? {}, null, 2)
  const facts = [
    [t('column.who'), entry.user?.email ? `${entry.name} (${entry.user.email})` : entry.name],
    [t('column.actor'), t(`actor.${entry.actorType}`)],
    [t('column.when'), absoluteTime(Date.parse(entry.createdAt))],
    [t('column.event'), getOperation(entry.event)],
    [t('column.method'), entry.method?.toUpperCase() ?? t(`context.${entry.context}`)],
    [t('outcome'), t(entry.accepted ? 'accepted' : 'refused')],
  ]
  return (
    <Dialog open onClose={onClose} title={getLabel(entry)} width="wide:w-[640px]">
      <dl className="mb-3 grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-ink-2">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
      </dl>
      <div className="overflow-clip rounded-box border border-line">
        <div className="flex items-center border-b border-line py-1 pr-1 pl-3">
          <span className="font-strong">{t('column.data')}</span>
          <span className="ml-auto">
            <CopyButton text={text} />
          </span>
        </div>
        <CodeBlock text={text} label={t('column.data')} className="max-h-[50dvh]" />
      </div>
    </Dialog>
  )
}
