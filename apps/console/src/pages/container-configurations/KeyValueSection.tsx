import { RotateCcw, TriangleAlert, Undo2, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { IconButton } from '../../components/Button.tsx'
import { cx } from '../../components/class-names.ts'
import { Pill } from '../../components/Tag.tsx'
import { ConflictNotes } from './ConflictNote.tsx'
import { useConfigForm } from './config-context.ts'
import { type LayeredRow, layerRows, withoutRow, withRow } from './keyed-rows.ts'
import { newId } from './new-id.ts'
import { parsePairs } from './parse-pairs.ts'
import { RowErrors, Section } from './Section.tsx'
import { SettingInput } from './SettingInput.tsx'
import { SettingReset } from './SettingReset.tsx'

type Row = { id?: string; key: string; value: string | null }
type Props = { field: 'environment' | 'dockerLabels'; id: 'environment' | 'labels' }

const sameKey = (a: Row, b: Row) => a.key === b.key
const isRemoval = (row: Row) => row.value === null

/** Keys and values, each with the layer it comes from. A key of the image can be changed here, or taken away. */
export function KeyValueSection({ field, id }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const own: readonly Row[] = form.own[field] ?? []
  const rows = layerRows<Row>(own, form.parent?.[field] ?? [], sameKey, isRemoval)
  const [added, setAdded] = useState<string | null>(null)
  const container = useRef<HTMLTableSectionElement>(null)
  const set = (next: readonly Row[]) => form.edit(field, next)

  useEffect(() => {
    if (!added) return
    container.current?.querySelector<HTMLInputElement>(`[data-row="${added}"] input`)?.focus()
    setAdded(null)
  }, [added])

  const add = () => {
    const row = { id: newId(), key: '', value: '' }
    set([...own, row])
    setAdded(row.id)
  }
  const change = (layered: LayeredRow<Row>, part: Partial<Row>) => set(withRow(own, layered, part, newId))
  const paste = (layered: LayeredRow<Row>) => (text: string) => {
    const pairs = parsePairs(text)
    if (pairs.length === 0) return false
    const known = new Map(own.map((row) => [row.key, row]))
    for (const pair of pairs) known.set(pair.key, { id: known.get(pair.key)?.id ?? newId(), ...pair })
    set([...known.values()].filter((row) => row.id !== layered.row.id || row.key !== ''))
    return true
  }
  const sources = new Set(rows.map((row) => (row.origin === 'inherited' ? 'image' : 'own'))).size
  const aside =
    rows.length === 0
      ? undefined
      : form.kind === 'instance'
        ? t('values.layers', { count: rows.length, layers: t('values.from', { count: sources }) })
        : t('values.count', { count: rows.length })

  return (
    <Section
      id={id}
      title={t(`section.${id}`)}
      aside={aside}
      tools={<SettingReset field={field} label={t(`section.${id}`)} />}
      onAdd={add}
    >
      <ConflictNotes field={field} />
      {rows.length === 0 ? (
        <p className="px-3 py-2.5 text-ink-3">{t(`empty.${field}`)}</p>
      ) : (
        <table className="w-full border-collapse max-md:block" aria-label={t(`section.${id}`)}>
          <thead className="max-md:hidden">
            <tr>
              <th scope="col" className={cx(head, 'w-[30%]')}>
                {t('column.key')}
              </th>
              <th scope="col" className={head}>
                {t('column.value')}
              </th>
              {form.kind === 'instance' && (
                <th scope="col" className={head}>
                  {t('column.from')}
                </th>
              )}
              <th scope="col" aria-label={t('column.actions')} className={cx(head, 'w-px')} />
            </tr>
          </thead>
          <tbody ref={container} className="max-md:block">
            {rows.map((layered) => (
              <KeyValueRow
                key={layered.id}
                field={field}
                layered={layered}
                onChange={(part) => change(layered, part)}
                onRemove={() => set(withoutRow(own, layered.index))}
                onEnter={add}
                onPaste={paste(layered)}
              />
            ))}
          </tbody>
        </table>
      )}
      <RowErrors
        errors={[
          form.errorOf(field),
          ...own.flatMap((_, index) => [
            form.errorOf(`${field}[${index}]`),
            form.errorOf(`${field}[${index}].key`),
            form.errorOf(`${field}[${index}].value`),
          ]),
        ]}
      />
    </Section>
  )
}

const head = 'h-8 border-b border-line px-3 text-left text-small font-medium whitespace-nowrap text-ink-3'
const cell = 'h-[42px] border-b border-line px-3 group-last:border-0 max-md:h-auto max-md:border-0 max-md:p-0'

type RowProps = {
  field: 'environment' | 'dockerLabels'
  layered: LayeredRow<Row>
  onChange: (part: Partial<Row>) => void
  onRemove: () => void
  onEnter: () => void
  onPaste: (text: string) => boolean
}

function KeyValueRow({ field, layered, onChange, onRemove, onEnter, onPaste }: RowProps) {
  const { t } = useTranslation(['configuration', 'common'])
  const { kind, errorOf, readOnly } = useConfigForm()
  const { row, origin, index } = layered
  const removed = origin === 'removed'
  const secretLike = field === 'environment' && /password|secret|token/i.test(row.key)
  const keyError = index < 0 ? undefined : errorOf(`${field}[${index}].key`)
  const valueError = index < 0 ? undefined : errorOf(`${field}[${index}].value`)
  const inputId = `${field}.${origin === 'own' ? (row.id ?? row.key) : row.key}`
  return (
    <tr
      data-row={row.id}
      className="group max-md:grid max-md:grid-cols-[minmax(0,1fr)_auto] max-md:gap-1 max-md:border-b max-md:border-line max-md:px-3 max-md:py-2 max-md:last:border-0"
    >
      <td className={cell}>
        {origin === 'own' ? (
          <SettingInput
            inputId={`${inputId}.key`}
            label={t('column.key')}
            value={row.key}
            error={keyError}
            placeholder="NAME"
            lazy
            onChange={(key) => onChange({ key })}
            onPasteLines={onPaste}
          />
        ) : (
          <span className={cx('mono break-all', removed && 'text-ink-3 line-through')}>{row.key}</span>
        )}
      </td>
      <td className={cx(cell, 'max-md:col-span-2 max-md:row-start-2')}>
        {removed ? (
          <span className="text-ink-3">{t('removedHere')}</span>
        ) : (
          <span className="flex items-center gap-2">
            <SettingInput
              className="flex-1"
              inputId={inputId}
              label={t('valueOf', { key: row.key || t('column.key') })}
              value={row.value ?? ''}
              error={valueError}
              onChange={(value) => onChange({ value })}
              onEnter={onEnter}
            />
            {secretLike && (
              <span title={t('secretHint')} className="text-progress">
                <TriangleAlert aria-hidden />
                <span className="sr-only">{t('secretHint')}</span>
              </span>
            )}
          </span>
        )}
      </td>
      {kind === 'instance' && (
        <td className={cx(cell, 'w-px whitespace-nowrap max-md:hidden')}>
          <Pill tone={origin === 'inherited' ? 'plain' : 'accent'}>
            {t(origin === 'inherited' ? 'origin.image' : 'origin.instance')}
          </Pill>
        </td>
      )}
      <td className={cx(cell, 'w-px text-right whitespace-nowrap max-md:col-start-2 max-md:row-start-1 max-md:w-auto')}>
        {origin === 'own' && (
          <IconButton
            icon={X}
            size="sm"
            label={t('removeRow', { key: row.key })}
            disabledReason={readOnly}
            onClick={onRemove}
          />
        )}
        {origin === 'override' && (
          <IconButton
            icon={Undo2}
            size="sm"
            label={t('reset.row', { key: row.key })}
            disabledReason={readOnly}
            onClick={onRemove}
          />
        )}
        {origin === 'removed' && (
          <IconButton
            icon={RotateCcw}
            size="sm"
            label={t('reset.row', { key: row.key })}
            disabledReason={readOnly}
            onClick={onRemove}
          />
        )}
        {origin === 'inherited' && (
          <IconButton
            icon={X}
            size="sm"
            label={t('removeInherited', { key: row.key })}
            disabledReason={readOnly}
            onClick={() => onChange({ value: null })}
          />
        )}
      </td>
    </tr>
  )
}
