import { Bot } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Avatar } from '../../components/Avatar.tsx'
import { Pill } from '../../components/Tag.tsx'
import { Tooltip } from '../../components/Tooltip.tsx'
import type { Column } from '../../table/columns.ts'
import { timeColumn } from '../../table/named-columns.tsx'
import { EntrySentence } from './EntrySentence.tsx'
import type { Entry } from './entry.ts'

export function useEntryColumns(teamSlug: string): Column<Entry>[] {
  const { t } = useTranslation('audit')
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
      grow: true,
      cell: (entry) => (
        <span className="flex min-w-0 items-center gap-2">
          <span className="min-w-0 wide:truncate max-md:wrap-anywhere">
            <EntrySentence teamSlug={teamSlug} entry={entry} />
          </span>
          {!entry.accepted && <Pill tone="failed">{t('refused')}</Pill>}
        </span>
      ),
    },
    timeColumn('when', t('column.when'), (entry) => entry.createdAt),
  ]
}
