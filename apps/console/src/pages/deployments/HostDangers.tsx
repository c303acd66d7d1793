import { ShieldAlert, ShieldCheck } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useDeniedPart } from '../../api/me.ts'
import { absoluteTime } from '../../components/relative-time.ts'
import type { Preview } from './change-lines.ts'

type Danger = NonNullable<Preview['hostDangerous']>[number]

/**
 * Lists the containers that can reach the node itself, by which settings, and whether an admin confirmed exactly this configuration.
 * Tokens can start only confirmed configurations.
 */
export function HostDangers({ preview }: { preview: Preview }) {
  const { t } = useTranslation(['deployments', 'common'])
  const all = preview.hostDangerous ?? []
  if (all.length === 0) return null
  return (
    <section aria-label={t('changes.hostDangerous')} className="px-3 py-2.5">
      <h3 className="font-strong">{t('changes.hostDangerous')}</h3>
      <ul className="mt-1.5 grid gap-2.5">
        {all.map((one) => (
          <li key={one.instanceId} className="flex items-start gap-2">
            {one.confirmed ? (
              <ShieldCheck aria-hidden className="mt-0.5 text-running" />
            ) : (
              <ShieldAlert aria-hidden className="mt-0.5 text-progress" />
            )}
            <div className="min-w-0 break-words">
              <b className="mono font-semibold">{one.containerName}</b>
              <ul>
                {one.dangers.map(({ property, value, description }) => (
                  <li key={`${property} ${value}`} className="text-ink-2">
                    <code className="text-ink">{`${property} ${value}`.trim()}</code> {description}.
                  </li>
                ))}
              </ul>
              <p className={one.confirmed ? 'text-running' : 'text-progress'}>
                <Confirmation danger={one} />
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Confirmation({ danger: { confirmation, confirmed, changes } }: { danger: Danger }) {
  const { t } = useTranslation(['deployments', 'common'])
  const adminOnly = useDeniedPart('container-configurations.host-dangerous')
  // Seconds do not matter here.
  const at = confirmation && {
    name: confirmation.by.name,
    date: absoluteTime(Date.parse(confirmation.at)).slice(0, 16),
  }
  if (confirmed && at) return t('changes.confirmed', at)
  const next = t(adminOnly ? 'changes.unconfirmed' : 'changes.confirms')
  if (!at) return next
  const what = changes.map(({ property }) => property).join(', ')
  return `${t('changes.changedSince', { ...at, changes: what })} ${next}`
}
