import type { Container } from '@crux/contract'
import { Clock } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { CopyButton } from '../../components/CopyButton.tsx'
import { MiddleEllipsis } from '../../components/MiddleEllipsis.tsx'
import { StateMark } from '../../components/State.tsx'
import { Tooltip } from '../../components/Tooltip.tsx'

type Entry = NonNullable<Container['externalAddresses']>[number]

/** The first address of each load balancer and ingress, in a row. */
export function ExternalAddressCell({ container }: { container: Container }) {
  const { t } = useTranslation('nodes')
  const { externalAddresses = [] } = container
  if (externalAddresses.length === 0)
    return (
      <span data-no-value className="text-ink-3">
        -
      </span>
    )
  return (
    <span className="inline-flex min-w-0 flex-wrap items-center gap-x-3">
      {externalAddresses.map((entry) => (
        <FirstAddress key={entry.type} entry={entry} label={t(`addresses.${entry.type}`)} />
      ))}
    </span>
  )
}

function FirstAddress({ entry: { addresses, type }, label }: { entry: Entry; label: string }) {
  const { t } = useTranslation('nodes')
  const [first, ...others] = addresses
  if (first === undefined) return <Pending type={type} />
  return (
    <span className="inline-flex min-w-0 items-center gap-0.5">
      <Tooltip content={[label, ...addresses].join('\n')}>
        <span className="mono inline-block max-w-48 min-w-0 text-ink-2">
          <MiddleEllipsis text={first} />
        </span>
      </Tooltip>
      {others.length > 0 && <span className="mono text-ink-3">+{others.length}</span>}
      <CopyButton text={first} label={t('addresses.copy', { address: first })} />
    </span>
  )
}

const Pending = ({ type }: Pick<Entry, 'type'>) => {
  const { t } = useTranslation('nodes')
  return (
    <StateMark
      appearance={{ tone: 'progress', icon: Clock }}
      label={t('addresses.pending')}
      reason={t(`addresses.pendingWhy.${type}`)}
    />
  )
}

/** All addresses of one load balancer or ingress. They are texts: nothing says which of their ports answers a browser. */
export function ExternalAddressList({ entry: { addresses, type } }: { entry: Entry }) {
  const { t } = useTranslation('nodes')
  if (addresses.length === 0) return <span className="font-normal text-ink-2">{t(`addresses.pendingWhy.${type}`)}</span>
  return (
    <ul className="-my-1 flex flex-wrap items-center gap-x-3 gap-y-1 font-normal">
      {addresses.map((address) => (
        <li key={address} className="inline-flex items-center gap-0.5">
          <code className="wrap-anywhere">{address}</code>
          <CopyButton text={address} label={t('addresses.copy', { address })} />
        </li>
      ))}
    </ul>
  )
}
