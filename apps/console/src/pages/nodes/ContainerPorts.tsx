import type { Container } from '@crux/contract'
import { ExternalLink } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { CopyButton } from '../../components/CopyButton.tsx'
import { Menu, MenuLabel } from '../../components/Menu.tsx'
import { publishedAddress } from '../deployments/service-address.ts'
import { containerName, portText } from './containers.ts'

type Port = Container['ports'][number]
/** `host` is where the browser reaches the node's published ports; null if unknown. */
type Props = { container: Container; host: string | null }

/** The first port in the row, which opens the service; a press on the count shows all of them. */
export function ContainerPorts({ container, host }: Props) {
  const { t } = useTranslation(['nodes', 'common'])
  const ports = [...container.ports].sort((a, b) => Number(b.external ?? 0) - Number(a.external ?? 0))
  const first = ports[0]
  if (!first)
    return (
      <span data-no-value className="text-ink-3">
        -
      </span>
    )
  const reach = container.state === 'running' ? host : null
  return (
    <span className="inline-flex items-center gap-1">
      <PortLink port={first} host={reach} />
      {ports.length > 1 && (
        <Menu
          align="start"
          trigger={
            <button
              type="button"
              aria-label={t('containers.portsTitle', { name: containerName(container), count: ports.length })}
              className="mono rounded-sm text-ink-2 hover:text-ink hover:underline"
            >
              +{ports.length - 1}
            </button>
          }
        >
          <MenuLabel>{t('containers.ports')}</MenuLabel>
          <ul className="max-h-80 overflow-y-auto px-2 pb-1">
            {ports.map((port) => (
              <li key={portText(port)}>
                <PortLink port={port} host={reach} />
              </li>
            ))}
          </ul>
        </Menu>
      )}
    </span>
  )
}

export function PortLink({ port, host }: { port: Port; host: string | null }) {
  const { t } = useTranslation()
  const address = host ? publishedAddress(port, host)[0] : undefined
  if (!address) return <span className="mono text-ink-2">{portText(port)}</span>
  return (
    <span className="inline-flex items-center gap-0.5">
      {address.open ? (
        <a
          href={address.url}
          target="_blank"
          rel="noreferrer"
          title={t('service.open', { address: address.url })}
          className="mono inline-flex items-center gap-1 rounded-sm text-accent hover:underline"
        >
          {portText(port)}
          <ExternalLink aria-hidden className="size-3!" />
        </a>
      ) : (
        <span className="mono text-ink-2">{portText(port)}</span>
      )}
      <CopyButton text={address.url} label={t('service.copy', { address: address.url })} />
    </span>
  )
}
