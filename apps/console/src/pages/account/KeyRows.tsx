import { Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { IconButton } from '../../components/Button.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import type { Key } from './settings-nodes.ts'

type Props = { keys: readonly Key[]; empty: string; onRemove: (key: Key) => unknown }

/** Keys or passkeys, each removable. */
export function KeyRows({ keys, empty, onRemove }: Props) {
  const { t } = useTranslation('account')
  if (keys.length === 0) return <p className="px-3.5 py-3 text-ink-2">{empty}</p>
  return (
    <ul className="divide-y divide-line">
      {keys.map((key) => (
        <li key={key.id} className="flex min-h-11 items-center gap-3 px-3.5 py-2">
          <span className="font-strong">{key.name || t('passkeys.one')}</span>
          <span className="text-ink-2">
            {t('keys.added')} {key.addedAt && <TimeAgo at={key.addedAt} />}
          </span>
          <IconButton
            icon={Trash2}
            label={t('keys.remove')}
            size="sm"
            variant="bare"
            className="ml-auto"
            disabledReason={key.last && t('lastWay')}
            onClick={() => onRemove(key)}
          />
        </li>
      ))}
    </ul>
  )
}
