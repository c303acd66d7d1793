import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { Webhook } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { Box } from '../../components/Box.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { Pill, Tag } from '../../components/Tag.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { Tooltip } from '../../components/Tooltip.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { Pagination } from '../../table/Pagination.tsx'

type Delivery = ResponseOf<'registries.list-deliveries'>[number]

const refetchIntervalMs = 5_000
/** A delivery may name many images; further ones are counted. */
const imagesMax = 3
const tones = { accepted: 'accent', ignored: 'plain', unknown: 'past' } as const

/** What the registry has reported, newest first, and what followed. */
export function HookDeliveries({ params }: { params: { teamSlug: string; registryId: string } }) {
  const { t } = useTranslation('hooks')
  const [page, setPage] = useState({ skip: 0, take: 10 })
  const query = useQuery({
    ...apiQuery('registries.list-deliveries', { params }),
    refetchInterval: refetchIntervalMs,
  })
  const columns: Column<Delivery>[] = [
    {
      id: 'time',
      header: t('deliveries.time'),
      cell: ({ receivedAt }) => <RelativeTime at={receivedAt} />,
      narrow: 'end',
    },
    { id: 'kind', header: t('deliveries.kind'), cell: ({ kind }) => t(`kind.${kind}`), narrow: 'detail' },
    {
      id: 'event',
      header: t('deliveries.event'),
      cell: ({ event }) => <code className="font-strong">{event}</code>,
      narrow: 'title',
    },
    {
      id: 'images',
      header: t('deliveries.images'),
      cell: ({ images }) => <Images images={images} />,
      narrow: 'detail',
      grow: true,
    },
    {
      id: 'result',
      header: t('deliveries.result'),
      cell: (delivery) => <Result delivery={delivery} teamSlug={params.teamSlug} />,
      narrow: 'lead',
    },
  ]
  return (
    <QueryView
      query={query}
      skeleton={<SkeletonRows rows={4} />}
      empty={<EmptyState icon={Webhook} title={t('deliveries.empty')} text={t('deliveries.emptyText')} />}
    >
      {(deliveries) => {
        const skip = page.skip < deliveries.length ? page.skip : 0
        return (
          <Box title={t('deliveries.title')} trailing={t('deliveries.sub', { count: deliveries.length })}>
            <DataTable
              flush
              label={t('deliveries.title')}
              rows={deliveries.slice(skip, skip + page.take)}
              columns={columns}
              rowKey={({ id }) => id}
              initialSort={null}
            />
            {deliveries.length > page.take && (
              <Pagination {...page} skip={skip} total={deliveries.length} onChange={setPage} />
            )}
          </Box>
        )
      }}
    </QueryView>
  )
}

function Images({ images }: { images: Delivery['images'] }) {
  const { t } = useTranslation('hooks')
  return (
    <span className="inline-flex min-w-0 flex-wrap items-center gap-1.5 py-1 whitespace-normal">
      {images.slice(0, imagesMax).map(({ name, tag, digest }, index) => (
        <Tooltip key={index} content={digest ?? undefined}>
          <Tag className="wrap-anywhere">{tag ? `${name}:${tag}` : name}</Tag>
        </Tooltip>
      ))}
      {images.length > imagesMax && (
        <span className="text-ink-2">{t('deliveries.more', { count: images.length - imagesMax })}</span>
      )}
    </span>
  )
}

function Result({ delivery, teamSlug }: { delivery: Delivery; teamSlug: string }) {
  const { t } = useTranslation('hooks')
  const { result, releases = [] } = delivery
  return (
    <span className="inline-flex items-center gap-1.5 py-1 whitespace-nowrap max-md:flex-wrap">
      <Tooltip content={t(`resultHelp.${result}`)}>
        <span>
          <Pill tone={tones[result]}>{t(`result.${result}`)}</Pill>
        </span>
      </Tooltip>
      {releases.map(({ deploymentId, number }) => (
        <TextLink
          key={`${deploymentId} ${number}`}
          {...links.deploymentProgress(teamSlug, deploymentId, number ?? undefined)}
        >
          {number ? t('deliveries.release', { number }) : t('deliveries.releaseUnnumbered')}
        </TextLink>
      ))}
    </span>
  )
}
