import { useTranslation } from 'react-i18next'
import { Dialog } from '../components/Dialog.tsx'
import { Kbd } from '../components/Kbd.tsx'

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const mac = /Mac|iPhone|iPad/.test(navigator.platform)
  const modifier = mac ? '⌘' : 'Ctrl'
  const rows = [
    { id: 'palette', keys: [modifier, 'K'] },
    { id: 'projects', keys: ['g', 'p'], sequence: true },
    { id: 'deployments', keys: ['g', 'd'], sequence: true },
    { id: 'nodes', keys: ['g', 'n'], sequence: true },
    { id: 'find', keys: ['/'] },
    { id: 'undo', keys: [modifier, 'Z'] },
    { id: 'submit', keys: [modifier, 'Enter'] },
    { id: 'close', keys: ['Esc'] },
    { id: 'help', keys: ['?'] },
  ] as const
  return (
    <Dialog open onClose={onClose} title={t('shortcuts.title')}>
      <dl>
        {rows.map((row) => (
          <div key={row.id} className="flex items-center border-b border-line py-1.5 last:border-0">
            <dt>{t(`shortcuts.${row.id}`)}</dt>
            <dd className="ml-auto flex items-center gap-1 text-small text-ink-3">
              {row.keys.map((key, place) => (
                <span key={key} className="flex items-center gap-1">
                  {place > 0 && 'sequence' in row && t('shortcuts.then')}
                  <Kbd>{key}</Kbd>
                </span>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
