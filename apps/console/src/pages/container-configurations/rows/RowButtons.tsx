import type { LayeredRow } from '@crux/config-editor'
import { ArrowDown, ArrowUp, RotateCcw, Undo2, X } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { IconButton } from '../../../components/Button.tsx'
import { useConfigForm } from '../form/config-context.ts'

type Props = {
  name: string
  origin?: LayeredRow<unknown>['origin']
  /** Deletes a row of this layer, which also takes an override or a removal back. */
  onRemove: () => void
  /** Removes an inherited row here. Without it, an inherited row is changed in its own layer. */
  onRemoveInherited?: () => void
}

/** Deletes a row of this layer, reverts an override or a removal, or removes an inherited row. */
export function RowButton({ name, origin = 'own', onRemove, onRemoveInherited }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const { readOnly } = useConfigForm()
  const isInherited = origin === 'inherited'
  const label =
    origin === 'own' || (isInherited && !onRemoveInherited)
      ? t('removeRow', { key: name })
      : t(isInherited ? 'removeInherited' : 'reset.row', { key: name })
  return (
    <IconButton
      icon={origin === 'override' ? Undo2 : origin === 'removed' ? RotateCcw : X}
      size="sm"
      label={label}
      disabledReason={readOnly ?? (isInherited && !onRemoveInherited && t('inheritedRow'))}
      onClick={isInherited && onRemoveInherited ? onRemoveInherited : onRemove}
    />
  )
}

type MoveButtonsProps<Row> = { rows: readonly Row[]; index: number; onChange: (rows: Row[]) => void }

/** Moves a row of an ordered list up or down by one place. */
export function MoveButtons<Row>({ rows, index, onChange }: MoveButtonsProps<Row>) {
  const { t } = useTranslation(['configuration', 'common'])
  const { readOnly } = useConfigForm()
  const move = (by: 1 | -1) => {
    const next = [...rows]
    next.splice(index + by, 0, ...next.splice(index, 1))
    onChange(next)
  }
  return (
    <>
      <IconButton
        icon={ArrowUp}
        size="sm"
        label={t('moveUp', { number: index + 1 })}
        disabledReason={readOnly ?? (index === 0 && t('isFirst'))}
        onClick={() => move(-1)}
      />
      <IconButton
        icon={ArrowDown}
        size="sm"
        label={t('moveDown', { number: index + 1 })}
        disabledReason={readOnly ?? (index === rows.length - 1 && t('isLast'))}
        onClick={() => move(1)}
      />
    </>
  )
}
