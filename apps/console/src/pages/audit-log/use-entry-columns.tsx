import { Bot, Globe, PlugZap, Server } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Avatar } from '../../components/Avatar.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { Pill, Tag } from '../../components/Tag.tsx'
import { Tooltip } from '../../components/Tooltip.tsx'
import type { Column } from '../../table/DataTable.tsx'
import { type Entry, shortData } from './entry.ts'
import { useEventWords } from './use-event-words.ts'

const contexts = { http: Globe, ws: PlugZap, rpc: Server } as const

export function useEntryColumns(): Column<Entry>[] {
  const { t } = useTranslation('audit')
  const words = useEventWords()
  return [
    {
      id: 'who',
      header: t('column.who'),
      narrow: 'lead',
      cell: (entry) => (
        <Tooltip content={entry.user?.email || t(`actor.${entry.actorType}`)}>
          <span className="inline-flex items-center gap-2">
            {entry.actorType === 'user' ? (
              <Avatar name={entry.name} size="sm" />
            ) : (
              <span className="grid size-[20px] place-items-center rounded-full bg-sunken text-ink-2">
                <Bot aria-hidden className="size-3.5!" />
              </span>
            )}
            <span className="font-strong">{entry.name}</span>
          </span>
        </Tooltip>
      ),
    },
    {
      id: 'what',
      header: t('column.what'),
      narrow: 'title',
      cell: (entry) => (
        <span className="inline-flex items-center gap-2">
          <span>{words(entry.event)}</span>
          {!entry.accepted && <Pill tone="failed">{t('refused')}</Pill>}
        </span>
      ),
    },
    {
      id: 'method',
      header: t('column.method'),
      narrow: 'none',
      cell: (entry) => {
        const Icon = contexts[entry.context]
        return (
          <span className="inline-flex items-center gap-1.5 text-ink-2">
            <Icon aria-hidden className="size-3.5!" />
            <Tag>{entry.method?.toUpperCase() ?? t(`context.${entry.context}`)}</Tag>
          </span>
        )
      },
    },
    {
      id: 'data',
      header: t('column.data'),
      grow: true,
      narrow: 'detail',
      cell: (entry) => <span className="mono text-ink-2">{shortData(entry.data)}</span>,
    },
    {
      id: 'when',
      header: t('column.when'),
      align: 'right',
      narrow: 'end',
      cell: (entry) => <RelativeTime at={entry.createdAt} />,
    },
  ]
}
