import { deploymentStatuses, type ResponseOf } from '@crux/contract'
import type { ComponentProps } from 'react'
import { useTranslation } from 'react-i18next'
import { Chips } from '../../components/Chips.tsx'
import { Select } from '../../components/Field.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { useNarrow } from '../../components/use-media.ts'
import type { DeploymentFilters as Search } from '../../routing/links.ts'
import { ColumnPicker } from '../../table/ColumnPicker.tsx'
import { Filters } from '../../table/Filters.tsx'

type Props = {
  search: Search
  filter: (change: Search) => void
  counts: ResponseOf<'deployments.list'>['counts']
  nodes: ResponseOf<'nodes.list'> | undefined
  picker: ComponentProps<typeof ColumnPicker>
}

/** Search, status, node and the choice of columns. On a phone the status is a list, because the chips need the width. */
export function DeploymentFilters({ search, filter, counts, nodes, picker }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const narrow = useNarrow()
  return (
    <Filters trailing={narrow ? undefined : <ColumnPicker {...picker} />}>
      <SearchBox
        label={t('list.filter')}
        value={search.filter ?? ''}
        onChange={(text) => filter({ filter: text || undefined })}
        delayMs={400}
      />
      <span className="max-md:hidden">
        <Chips
          label={t('list.status')}
          value={search.status ?? 'all'}
          onChange={(status) => filter({ status: status === 'all' ? undefined : status })}
          options={statusChips(counts, t)}
        />
      </span>
      <span className="wide:hidden flex-1">
        <Select
          aria-label={t('list.status')}
          value={search.status ?? ''}
          onChange={(event) => filter({ status: deploymentStatuses.find((status) => status === event.target.value) })}
          none={t('list.anyStatus')}
          options={deploymentStatuses.map((value) => ({ value, label: t(`common:state.deployment.${value}`) }))}
        />
      </span>
      {nodes && nodes.length > 1 && (
        <span className="max-md:flex-1 wide:w-40">
          <Select
            aria-label={t('list.node')}
            value={search.nodeId ?? ''}
            onChange={(event) => filter({ nodeId: event.target.value || undefined })}
            none={t('list.anyNode')}
            options={nodes.map(({ id, name }) => ({ value: id, label: name }))}
          />
        </span>
      )}
    </Filters>
  )
}

const order = ['in-progress', 'failed', 'preparing', 'successful', 'obsolete'] as const
type T = ReturnType<typeof useTranslation<['deployments', 'common']>>['t']

function statusChips(counts: Record<string, number> | undefined, t: T) {
  const total = counts && Object.values(counts).reduce((sum, count) => sum + count, 0)
  return [
    { value: 'all' as const, label: t('common:all'), count: total },
    // Most deployments are done, and their number requires no action.
    ...order.map((value) => ({
      value,
      label: t(`common:state.deployment.${value}`),
      count: value === 'successful' || value === 'obsolete' ? undefined : (counts?.[value] ?? (counts && 0)),
    })),
  ]
}
