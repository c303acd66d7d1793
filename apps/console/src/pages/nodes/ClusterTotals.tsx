import type { ResponseOf } from '@crux/contract'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Capacity } from './Capacity.tsx'
import { resourceNames } from './capacity.ts'

/** The whole cluster: how many of its machines are ready, and what is requested of them together. */
export function ClusterTotals({ cluster, name }: { cluster: ResponseOf<'nodes.machines'>['cluster']; name: string }) {
  const { t } = useTranslation('nodes')
  const { allocatable, machines, ready, requested } = cluster
  return (
    <section aria-label={t('machines.totals')} className="mb-4 rounded-box border border-line bg-surface">
      <dl className="grid grid-cols-2 divide-line md:grid-cols-4 md:divide-x">
        <Total label={t('machines.ready')}>
          <span className="font-strong tabular-nums">{t('machines.readyCount', { ready, count: machines })}</span>
        </Total>
        {resourceNames.map((resource) => (
          <Total key={resource} label={t(`machines.${requested ? 'requested' : 'resource'}.${resource}`)}>
            <Capacity
              name={resource}
              allocatable={allocatable[resource]}
              requested={requested?.[resource] ?? null}
              owner={name}
            />
          </Total>
        ))}
      </dl>
      {!requested && (
        <p className="border-t border-line px-3.5 py-2 text-small text-ink-2">{t('machines.requestsUnknown')}</p>
      )}
    </section>
  )
}

function Total({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="min-w-0 px-3.5 py-2.5">
      <dt className="text-small text-ink-2">{label}</dt>
      <dd className="mt-0.5">{children}</dd>
    </div>
  )
}
