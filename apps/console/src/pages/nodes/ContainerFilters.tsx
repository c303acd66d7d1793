import { useNavigate } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import { Chips } from '../../components/Chips.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { links } from '../../routing/links.ts'
import { Filters } from '../../table/Filters.tsx'
import type { StateFilter } from './containers.ts'
import type { ContainerFilter } from './use-container-filter.ts'

type Props = { filter: ContainerFilter; teamSlug: string; nodeId: string; prefix: string | undefined }

/** Search, states, the prefix of the address, and the containers of Crux itself, which are hidden at first. */
export function ContainerFilters({ filter, teamSlug, nodeId, prefix }: Props) {
  const { t } = useTranslation('nodes')
  const navigate = useNavigate()
  const { text, setText, state, setState, internal, setInternal, hidden } = filter
  const chips = stateFilters
    .map((value) => ({ value, label: t(`containers.filterState.${value}`), count: filter.countMatches(value) }))
    .filter(({ value, count }) => value === 'all' || value === 'running' || value === state || count > 0)
  return (
    <Filters
      trailing={
        hidden > 0 && (
          <Button variant="bare" size="sm" aria-pressed={internal} onClick={() => setInternal(!internal)}>
            {internal
              ? t('containers.hideInternal', { count: hidden })
              : t('containers.showInternal', { count: hidden })}
          </Button>
        )
      }
    >
      <SearchBox label={t('containers.filter')} value={text} onChange={setText} />
      <Chips label={t('containers.state')} value={state} onChange={setState} options={chips} />
      {prefix && (
        <Button
          size="sm"
          aria-label={t('containers.allPrefixes', { prefix })}
          onClick={() => void navigate(links.node(teamSlug, nodeId, { section: 'containers' }))}
        >
          {t('containers.prefix')} <code>{prefix}</code>
          <X aria-hidden className="size-3.5!" />
        </Button>
      )}
    </Filters>
  )
}

const stateFilters = ['all', 'running', 'failing', 'stopped', 'other'] as const satisfies StateFilter[]
