import type { ComposeProblem, SourcePosition } from '@crux/compose'
import { Container } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useDeniedPart } from '../../api/me.ts'
import { EmptyState } from '../../components/EmptyState.tsx'
import { Pill } from '../../components/Tag.tsx'
import type { ComposeResult, ServiceResult } from '../../composer/compose-result.ts'
import { FilteredList } from '../../table/FilteredList.tsx'
import { ProblemLines } from './ComposeProblems.tsx'
import { ServiceCard } from './ServiceCard.tsx'
import { useMissingRegistry } from './use-missing-registry.ts'

/** More services begin folded, and get a search. */
const openServicesMax = 6

type Props = { result: ComposeResult | null; onJump: (position: SourcePosition) => void }

/** One card per service, in the order in which they start. */
export function ServiceCards({ result, onJump }: Props) {
  const { t } = useTranslation('composer')
  const missing = useMissingRegistry(result?.missingHosts.length !== 0)
  const isAdmin = useDeniedPart('container-configurations.host-dangerous') === null
  const services = result?.services ?? []
  const failed = result?.failedServices ?? []
  if (services.length + failed.length === 0)
    return <EmptyState icon={Container} title={t('service.empty')} text={t('service.emptyText')} />
  const startsOpen = services.length <= openServicesMax
  const cards = (shown: readonly ServiceResult[]) => (
    <ul
      aria-label={t('tabs.containers')}
      className="grid items-start gap-3 [grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr))]"
    >
      {failed.map((name) => (
        <FailedCard
          key={name}
          name={name}
          problems={result?.problems.filter(({ service }) => service === name) ?? []}
          onJump={onJump}
        />
      ))}
      {shown.map((service) => (
        <ServiceCard
          key={service.service}
          service={service}
          startsOpen={startsOpen}
          missing={missing}
          isAdmin={isAdmin}
          onJump={onJump}
        />
      ))}
    </ul>
  )
  if (startsOpen) return cards(services)
  return (
    <FilteredList
      rows={services}
      search={t('service.filter')}
      searchText={({ service, reference, config }) => [service, reference, config.name]}
    >
      {cards}
    </FilteredList>
  )
}

type FailedProps = Pick<Props, 'onJump'> & { name: string; problems: readonly ComposeProblem[] }

/** A service with an error has no container until it is fixed. */
function FailedCard({ name, problems, onJump }: FailedProps) {
  const { t } = useTranslation('composer')
  return (
    <li className="min-w-0 rounded-box border border-failed bg-surface">
      <article aria-label={name}>
        <header className="flex flex-wrap items-baseline gap-2 px-3 pt-2.5">
          <h3 className="mono font-strong wrap-anywhere">{name}</h3>
          <Pill tone="failed">{t('service.failed')}</Pill>
        </header>
        <ProblemLines problems={problems} onJump={onJump} />
      </article>
    </li>
  )
}
