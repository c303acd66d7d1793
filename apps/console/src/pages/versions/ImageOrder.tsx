import { shortImageTag } from '@crux/rules'
import {
  type Announcements,
  closestCenter,
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
} from '@dnd-kit/core'
import {
  arrayMove,
  SortableContext,
  sortableKeyboardCoordinates,
  useSortable,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable'
import { CSS } from '@dnd-kit/utilities'
import { ArrowDown, ArrowUp, GripVertical } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Box } from '../../components/Box.tsx'
import { Button, IconButton } from '../../components/Button.tsx'
import { cx } from '../../components/class-names.ts'
import { Tag } from '../../components/Tag.tsx'
import type { VersionImage } from './use-version-live.ts'

type Props = { images: VersionImage[]; onSave: (order: string[]) => void; onDiscard: () => void }

/** The start order: by dragging, by keyboard at the handle, or with the arrow buttons. Nothing is sent before Save. */
export function ImageOrder({ images, onSave, onDiscard }: Props) {
  const { t } = useTranslation('versions')
  const [moved, setOrder] = useState(() => images.map((image) => image.id))
  // Images that were added meanwhile are at the end.
  const order = [
    ...moved.filter((id) => images.some((image) => image.id === id)),
    ...images.map((image) => image.id).filter((id) => !moved.includes(id)),
  ]
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  )

  const getName = (id: string | number) => {
    const image = images.find((one) => one.id === id)
    return image?.config.name ?? image?.name ?? ''
  }
  const announcement = (id: string | number, over: string | number | undefined) => ({
    name: getName(id),
    place: order.indexOf(String(over ?? id)) + 1,
    total: order.length,
  })
  const announcements: Announcements = {
    onDragStart: ({ active }) => t('order.picked', { name: getName(active.id) }),
    onDragOver: ({ active, over }) => t('order.over', announcement(active.id, over?.id)),
    onDragEnd: ({ active, over }) => t('order.dropped', announcement(active.id, over?.id)),
    onDragCancel: ({ active }) => t('order.cancelled', { name: getName(active.id) }),
  }
  const move = (from: number, to: number) => setOrder(arrayMove(order, from, to))
  const drop = ({ active, over }: DragEndEvent) => {
    if (over && active.id !== over.id) move(order.indexOf(String(active.id)), order.indexOf(String(over.id)))
  }
  return (
    <Box
      title={t('order.title')}
      actions={
        <>
          <Button onClick={onDiscard}>{t('order.discard')}</Button>
          <Button variant="main" onClick={() => onSave(order)}>
            {t('order.save')}
          </Button>
        </>
      }
    >
      <p className="border-b border-line px-3 py-2 text-small text-ink-2">{t('order.text')}</p>
      <DndContext
        sensors={sensors}
        collisionDetection={closestCenter}
        onDragEnd={drop}
        accessibility={{ announcements }}
      >
        <SortableContext items={order} strategy={verticalListSortingStrategy}>
          <ol>
            {order.map((id, place) => {
              const image = images.find((one) => one.id === id)
              return (
                image && (
                  <Row
                    key={id}
                    image={image}
                    name={getName(id)}
                    place={place}
                    total={order.length}
                    onMove={(to) => move(place, to)}
                  />
                )
              )
            })}
          </ol>
        </SortableContext>
      </DndContext>
    </Box>
  )
}

type RowProps = { image: VersionImage; name: string; place: number; total: number; onMove: (to: number) => void }

function Row({ image, name, place, total, onMove }: RowProps) {
  const { t } = useTranslation('versions')
  const { attributes, listeners, setNodeRef, setActivatorNodeRef, transform, transition, isDragging } = useSortable({
    id: image.id,
  })
  return (
    <li
      ref={setNodeRef}
      style={{ transform: CSS.Translate.toString(transform), transition }}
      className={cx(
        'flex h-11 items-center gap-2 border-b border-line bg-surface px-2 last:border-0',
        isDragging && 'relative z-10 rounded-md border bg-raised shadow-lift',
      )}
    >
      <button
        type="button"
        ref={setActivatorNodeRef}
        {...attributes}
        {...listeners}
        aria-label={t('order.handle', { name, place: place + 1, total })}
        className="grid size-[30px] cursor-grab touch-none place-items-center rounded-md text-ink-3 hover:bg-hover"
      >
        <GripVertical aria-hidden />
      </button>
      <span className="w-5 text-right text-ink-3 tabular-nums">{place + 1}</span>
      <span className="min-w-0 truncate font-strong">{name}</span>
      <code className="min-w-0 truncate text-ink-2 max-md:hidden">{image.name}</code>
      {image.tag && <Tag className="max-md:hidden">{shortImageTag(image.tag)}</Tag>}
      <span className="ml-auto flex">
        <IconButton
          icon={ArrowUp}
          size="sm"
          label={t('order.up', { name })}
          disabledReason={place === 0 && t('order.first')}
          onClick={() => onMove(place - 1)}
        />
        <IconButton
          icon={ArrowDown}
          size="sm"
          label={t('order.down', { name })}
          disabledReason={place === total - 1 && t('order.last')}
          onClick={() => onMove(place + 1)}
        />
      </span>
    </li>
  )
}
