import { defaultContainerName, labelRules, shortImageTag } from '@crux/rules'
import { useNavigate } from '@tanstack/react-router'
import { ArrowDownUp, Container, Plus, SlidersHorizontal, Tag as TagIcon, Trash2, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import { confirm } from '../../components/confirm.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { Tag } from '../../components/Tag.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { Tooltip } from '../../components/Tooltip.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import type { Column, RowAction } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { timeColumn } from '../../table/named-columns.tsx'
import type { VersionImage, VersionLive } from './use-version-live.ts'

const AddImages = lazyComponent(async () => (await import('./AddImages.tsx')).AddImages)
const TagPicker = lazyComponent(async () => (await import('./TagPicker.tsx')).TagPicker)

type Props = {
  teamSlug: string
  images: VersionImage[]
  /** Deploying is the next step then, and the page's main button. */
  isReady: boolean
  /** The owner of the images: a versionless project does not show its version. */
  owner: string
  /** Why the images are read-only for all users; rights are checked in addition. */
  fixed: string | null
  live: VersionLive
  onReorder: () => void
}

export function ImagesSection({ teamSlug, images, isReady, owner, fixed, live, onReorder }: Props) {
  const { t } = useTranslation('versions')
  const navigate = useNavigate()
  const addDenied = live.denied.addImages ?? fixed
  const tagDenied = live.denied.setTag ?? fixed
  const [adding, setAdding] = useState(false)
  const [taggedId, setTaggedId] = useState<string | null>(null)
  const columns = useColumns(teamSlug, images, tagDenied ? undefined : setTaggedId)
  const tagged = images.find((image) => image.id === taggedId)
  const untagged = images.filter((image) => !image.tag).length

  const remove = async (image: VersionImage) => {
    const name = image.config.name ?? image.name
    const yes = await confirm({
      title: t('image.removeTitle', { name, owner }),
      text: t('image.removeText'),
      action: t('image.removeAction'),
      danger: true,
    })
    if (yes) live.removeImage(image.id)
  }
  const actions = (image: VersionImage): RowAction[] => [
    {
      id: 'tag',
      icon: TagIcon,
      label: t('image.tag'),
      inline: true,
      disabledReason: tagDenied,
      run: () => setTaggedId(image.id),
    },
    {
      id: 'config',
      icon: SlidersHorizontal,
      label: t('image.config'),
      inline: true,
      run: () => void navigate(links.containerConfiguration(teamSlug, image.config.id)),
    },
    {
      id: 'remove',
      icon: Trash2,
      label: t('image.remove'),
      danger: true,
      disabledReason: live.denied.removeImage ?? fixed,
      run: () => void remove(image),
    },
  ]
  const add = (
    <Button variant={isReady ? 'plain' : 'main'} icon={Plus} disabledReason={addDenied} onClick={() => setAdding(true)}>
      {t('image.add')}
    </Button>
  )
  return (
    <>
      {images.length === 0 ? (
        <EmptyState icon={Container} title={t('image.empty')} text={addDenied ?? t('image.emptyText')} action={add} />
      ) : (
        <FilteredList
          rows={images}
          search={t('image.filter')}
          searchText={(image) => [image.config.name, image.name, image.tag, image.registry.name]}
          extra={
            untagged > 0 && <span className="text-small text-progress">{t('image.tagHint', { count: untagged })}</span>
          }
          trailing={
            <>
              <Button
                icon={ArrowDownUp}
                disabledReason={live.denied.setOrder ?? fixed ?? (images.length < 2 && t('image.reorderNeedsTwo'))}
                onClick={onReorder}
              >
                {t('image.reorder')}
              </Button>
              {add}
            </>
          }
        >
          {(rows) => (
            <DataTable
              label={t('images')}
              rows={rows}
              columns={columns}
              rowKey={(image) => image.id}
              initialSort={null}
              actions={actions}
            />
          )}
        </FilteredList>
      )}
      {adding && (
        <AddImages
          teamSlug={teamSlug}
          firstRegistryId={images.at(-1)?.registry.id}
          onAdd={live.addImages}
          onClose={() => setAdding(false)}
        />
      )}
      {tagged && (
        <TagPicker
          teamSlug={teamSlug}
          image={tagged}
          onPick={(tag) => live.setTag(tagged.id, tag)}
          onClose={() => setTaggedId(null)}
        />
      )}
    </>
  )
}

function useColumns(
  teamSlug: string,
  images: readonly VersionImage[],
  onTag?: (imageId: string) => void,
): Column<VersionImage>[] {
  const { t } = useTranslation('versions')
  return [
    {
      id: 'order',
      header: t('image.order'),
      narrow: 'none',
      // Its place among those that are left: the stored order has holes where an image was removed.
      cell: (image) => <span className="text-ink-3 tabular-nums">{images.indexOf(image) + 1}</span>,
    },
    {
      id: 'container',
      header: t('image.container'),
      narrow: 'title',
      cell: (image) => (
        <TextLink {...links.containerConfiguration(teamSlug, image.config.id)} strong>
          {image.config.name || defaultContainerName(image.name)}
        </TextLink>
      ),
    },
    {
      id: 'image',
      header: t('image.image'),
      narrow: 'detail',
      cell: (image) => (
        <span className="inline-flex max-w-full items-center gap-2">
          <code className="min-w-0 truncate max-md:whitespace-normal max-md:wrap-anywhere">{image.name}</code>
          {image.tag ? (
            <span title={image.tag} className="inline-flex shrink-0">
              <Tag className="max-w-56 truncate">{shortImageTag(image.tag)}</Tag>
            </span>
          ) : onTag ? (
            <Button size="sm" onClick={() => onTag(image.id)}>
              {t('image.chooseTag')}
            </Button>
          ) : (
            <span className="text-progress">{t('image.noTag')}</span>
          )}
          <LabelProblems labels={image.labels} />
        </span>
      ),
    },
    {
      id: 'registry',
      header: t('image.registry'),
      cell: (image) => (
        <TextLink {...links.registry(teamSlug, image.registry.id)} className="text-ink-2!">
          {image.registry.name}
        </TextLink>
      ),
    },
    timeColumn('added', t('image.added'), (image) => image.createdAt),
  ]
}

/** The image's author wrote its labels: labels that are not valid rules are shown here and have no other effect. */
function LabelProblems({ labels }: { labels: VersionImage['labels'] }) {
  const { t } = useTranslation('versions')
  const { problems } = labelRules(labels)
  if (problems.length === 0) return null
  const word = t('image.labelProblems', { count: problems.length })
  const text = problems.map(({ label, description }) => `${label}: ${description}`).join('\n')
  return (
    <Tooltip content={text}>
      <button
        type="button"
        aria-label={`${word}: ${text}`}
        className="inline-flex items-center gap-1 text-small text-progress"
      >
        <TriangleAlert aria-hidden className="size-3.5!" /> {word}
      </button>
    </Tooltip>
  )
}
