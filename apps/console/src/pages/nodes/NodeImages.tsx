import type { ResponseOf } from '@crux/contract'
import { nodeTakesCommands } from '@crux/rules'
import { useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleHelp, CirclePlay, CircleSlash, Layers, Trash2, Unplug } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryKey, useCall } from '../../api/client.ts'
import { Button } from '../../components/Button.tsx'
import { Checkbox } from '../../components/Checkbox.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { MiddleEllipsis } from '../../components/MiddleEllipsis.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { StateMark } from '../../components/State.tsx'
import type { StatusStyle } from '../../components/status-styles.ts'
import { toastSuccess } from '../../components/toasts.tsx'
import type { Column } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { timeColumn } from '../../table/named-columns.tsx'
import { bytesText } from '../deployments/bytes.ts'
import { imageName, listTags } from './image-name.ts'

type NodeImage = ResponseOf<'nodes.images'>['images'][number]
type Props = { teamSlug: string; node: ResponseOf<'nodes.get'> }
type TableProps = Pick<Props, 'node'> & { params: { teamSlug: string; nodeId: string }; images: NodeImage[] }

const appearances: Record<NodeImage['state'], StatusStyle> = {
  running: { tone: 'running', icon: CirclePlay },
  needed: { tone: 'running', icon: CircleCheck },
  unneeded: { tone: 'progress', icon: CircleSlash },
  foreign: { tone: 'idle', icon: CircleHelp },
}

/** The images on the node, what needs them, and which of them can be removed to free its disk. */
export function NodeImages({ teamSlug, node }: Props) {
  const { t } = useTranslation(['nodes', 'common'])
  const params = { teamSlug, nodeId: node.id }
  // During an update the images are still shown.
  const isUnavailable = node.status === 'unreachable' || node.status === 'outdated'
  const query = useQuery({ ...apiQuery('nodes.images', { params }), enabled: !isUnavailable, staleTime: 0 })
  if (isUnavailable) return <EmptyState icon={Unplug} title={t('images.awayTitle')} text={t('images.awayText')} />
  return (
    <QueryView
      query={query}
      skeleton={<SkeletonRows />}
      isEmpty={({ images }) => images.length === 0}
      empty={<EmptyState icon={Layers} title={t('images.emptyTitle')} text={t('images.emptyText')} />}
    >
      {({ images }) => <ImageTable params={params} node={node} images={images} />}
    </QueryView>
  )
}

function ImageTable({ params, node, images }: TableProps) {
  const { t } = useTranslation(['nodes', 'common'])
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  const prune = useCall('nodes.prune-images', {
    stale: [queryKey('nodes.images', { params })],
    onSuccess: ({ removed, freedBytes, kept }) => {
      setPicked(new Set())
      const freed = t('images.removed', { count: removed.length, size: bytesText(freedBytes) })
      const [first] = kept
      toastSuccess(first ? `${freed}. ${t('images.kept', { count: kept.length, reason: first.reason })}` : freed)
    },
  })
  const takes = nodeTakesCommands(node)
  const free = images.filter(({ state }) => state === 'unneeded')
  // Images that became needed meanwhile can no longer be chosen.
  const chosen = free.filter(({ id }) => picked.has(id))
  const countBytes = (some: readonly NodeImage[]) => bytesText(some.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0))
  const pick = (id: string, on: boolean) => {
    const next = new Set(picked)
    if (on) next.add(id)
    else next.delete(id)
    setPicked(next)
  }
  const remove = () => {
    const question = {
      title: t('images.removeTitle', { count: chosen.length }),
      text: t('images.removeText', { size: countBytes(chosen) }),
      action: t('images.remove'),
      danger: true,
    }
    void prune.ask(question, { params, body: { imageIds: chosen.map(({ id }) => id) } })
  }

  const columns: Column<NodeImage>[] = [
    {
      id: 'state',
      header: t('images.state'),
      cell: (image) => (
        <span className="inline-flex items-center gap-2.5">
          <Checkbox
            label={t('images.pick', { name: imageName(image) })}
            checked={image.state === 'unneeded' && picked.has(image.id)}
            disabled={image.state !== 'unneeded'}
            onChange={(on) => pick(image.id, on)}
          />
          <StateMark appearance={appearances[image.state]} label={t(`images.is.${image.state}`)} />
        </span>
      ),
      sort: (image) => ['unneeded', 'needed', 'running', 'foreign'].indexOf(image.state),
      narrow: 'lead',
    },
    {
      id: 'name',
      header: t('images.name'),
      cell: (image) => (
        <span className="mono" title={image.references.join('\n')}>
          <MiddleEllipsis text={imageName(image)} />
          {listTags(image).length > 1 && (
            <span className="text-ink-2"> {t('images.more', { count: listTags(image).length - 1 })}</span>
          )}
        </span>
      ),
      sort: imageName,
      narrow: 'title',
    },
    {
      id: 'neededBy',
      header: t('images.neededBy'),
      cell: (image) => <span className="text-ink-2">{image.neededBy ?? t(`images.nobody.${image.state}`)}</span>,
      grow: true,
      narrow: 'detail',
    },
    {
      id: 'size',
      header: t('images.size'),
      cell: (image) => <span className="tabular-nums">{bytesText(image.sizeBytes)}</span>,
      sort: (image) => image.sizeBytes,
      align: 'right',
      narrow: 'end',
    },
    { ...timeColumn('age', t('images.age'), (image) => image.createdAt), narrow: 'none' },
  ]
  // Images from elsewhere have no id, and not all of them have a name.
  const keys = new Map(images.map((image, index) => [image, image.id || `others ${index}`]))
  const all = free.length > 0 && chosen.length === free.length
  return (
    <FilteredList
      rows={images}
      search={t('images.filter')}
      searchText={({ references, neededBy, state }) => [...references, neededBy, t(`images.is.${state}`)]}
      trailing={
        <>
          <Button
            size="sm"
            disabledReason={free.length === 0 ? t('images.noneFree') : null}
            onClick={() => setPicked(new Set(all ? [] : free.map(({ id }) => id)))}
          >
            {all ? t('images.pickNone') : t('images.pickFree', { count: free.length, size: countBytes(free) })}
          </Button>
          <Button
            size="sm"
            variant="bad"
            icon={Trash2}
            busy={prune.isPending}
            disabledReason={
              prune.denied ?? (takes.allowed ? (chosen.length === 0 ? t('images.pickFirst') : null) : takes.reason)
            }
            onClick={remove}
          >
            {t('images.remove')}
          </Button>
        </>
      }
    >
      {(rows) => (
        <DataTable
          label={t('section.images')}
          rows={rows}
          columns={columns}
          rowKey={(image) => keys.get(image) ?? image.id}
          initialSort={{ column: 'state', direction: 'asc' }}
        />
      )}
    </FilteredList>
  )
}
