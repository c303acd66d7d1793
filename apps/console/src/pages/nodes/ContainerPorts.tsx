import type { Container } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { Menu, MenuLabel } from '../../components/Menu.tsx'
import { containerName, portText } from './containers.ts'

/** The first port in the row; a press shows all of them. */
export function ContainerPorts({ container }: { container: Container }) {
  const { t } = useTranslation(['nodes', 'common'])
  const ports = [...container.ports].sort((a, b) => Number(b.external ?? 0) - Number(a.external ?? 0))
  const first = ports[0]
  if (!first) return <span className="text-ink-3">-</span>
  if (ports.length === 1) return <span className="mono text-ink-2">{portText(first)}</span>
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          aria-label={t('containers.portsOf', { name: containerName(container), count: ports.length })}
          className="mono rounded-sm text-ink-2 hover:text-ink hover:underline"
        >
          {portText(first)} +{ports.length - 1}
        </button>
      }
    >
      <MenuLabel>{t('containers.ports')}</MenuLabel>
      <ul className="mono max-h-80 overflow-y-auto px-2 pb-1">
        {ports.map((port) => (
          <li key={portText(port)}>{portText(port)}</li>
        ))}
      </ul>
    </Menu>
  )
}
