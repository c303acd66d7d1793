import { ShieldAlert, ShieldCheck } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useDeniedPart } from '../../api/me.ts'
import { absoluteTime } from '../../components/relative-time.ts'
import type { Preview } from './change-lines.ts'

type Danger = NonNullable<Preview['hostDangerous']>[number]

/** Which containers reach the node itself, and whether an admin confirmed exactly this: tokens start nothing else. */
export function HostDangers({ preview }: { preview: Preview }) {
  const { t } = useTranslation(['deployments', 'common'])
  const all = preview.hostDangerous ?? []
  if (all.length === 0) return null
  return (
    <ul aria-label={t('changes.hostDangerous')} className="divide-y divide-line">
      {all.map((one) => (
        <li key={one.instanceId} className="flex items-start gap-2 px-3 py-2.5">
          {one.confirmed ? (
            <ShieldCheck aria-hidden className="mt-0.5 text-running" />
          ) : (
            <ShieldAlert aria-hidden className="mt-0.5 text-progress" />
          )}
          <span className="min-w-0 break-words">
            <b className="mono font-semibold">{one.containerName}</b> <Sentence danger={one} />
          </span>
        </li>
      ))}
    </ul>
  )
}

function Sentence({ danger }: { danger: Danger }) {
  const { t } = useTranslation(['deployments', 'common'])
  const adminOnly = useDeniedPart('container-configurations.host-dangerous')
  const { containerName: container, confirmation, confirmed, changes } = danger
  const dangers = danger.dangers.map(({ property, value }) => `${property} ${value}`.trim()).join(', ')
  const name = confirmation?.by.name ?? ''
  const date = confirmation ? absoluteTime(Date.parse(confirmation.at)) : ''
  if (confirmed) return t('changes.confirmed', { name, date, dangers })
  if (!confirmation) return t(adminOnly ? 'changes.unconfirmed' : 'changes.confirms', { container, dangers })
  return t(adminOnly ? 'changes.unconfirmedChanged' : 'changes.confirmsChanged', {
    container,
    name,
    date,
    changes: changes.map(({ property }) => property).join(', '),
  })
}
