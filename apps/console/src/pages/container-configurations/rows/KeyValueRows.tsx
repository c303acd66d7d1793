import { type LayeredRow, layerRows, newId, parseEnvFile, withoutRow, withRow } from '@crux/config-editor'
import { TriangleAlert } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from '../../../components/class-names.ts'
import { SearchBox } from '../../../components/SearchBox.tsx'
import { useConfigForm } from '../form/config-context.ts'
import { layerLabels, OriginPill } from '../form/Origin.tsx'
import { RowErrors, useFieldTarget } from '../form/Section.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { RowButton } from './RowButtons.tsx'
import { useRowWindow } from './use-row-window.ts'

export type KeyValueField = 'environment' | 'dockerLabels' | 'extraLBAnnotations'
export type KeyValueRow = { id?: string; key: string; value: string | null }
const isRemoval = (row: KeyValueRow) => row.value === null
/** More rows than this get a search of their own. */
const searchFrom = 12

/** The rows of a field with those of lower layers, and how one is added. */
export function useKeyValues(field: KeyValueField) {
  const form = useConfigForm()
  const own: readonly KeyValueRow[] = form.own[field] ?? []
  const rows = layerRows<KeyValueRow>(own, form.parent?.[field] ?? [], 'key', isRemoval)
  const [added, setAdded] = useState<string | null>(null)
  return {
    field,
    own,
    rows,
    /** A new row that should get the focus. */
    added,
    focused: () => setAdded(null),
    add() {
      const row = { id: newId(), key: '', value: '' }
      form.edit(field, [...own, row])
      setAdded(row.id)
    },
  }
}

type Props = {
  list: ReturnType<typeof useKeyValues>
  label: string
  /** Takes over a pasted text of several lines; without it they become rows at once. */
  onPasteFile?: (text: string) => void
}

/** Keys and values, each with the layer it comes from. An inherited key can be overridden or removed here. */
export function KeyValueRows({ list, label, onPasteFile }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { field, own, rows, added } = list
  const [text, setText] = useState('')
  const body = useRef<HTMLTableSectionElement>(null)
  const wanted = text.trim().toLowerCase()
  const found =
    wanted === '' ? rows : rows.filter(({ row }) => `${row.key}\n${row.value ?? ''}`.toLowerCase().includes(wanted))
  const view = useRowWindow(body, found.length)
  const set = (next: readonly KeyValueRow[]) => form.edit(field, next)

  // A new row is only rendered after it was scrolled into view.
  useEffect(() => {
    if (!added) return
    const input = body.current?.querySelector<HTMLInputElement>(`[data-row="${added}"] input`)
    if (input) {
      input.focus()
      list.focused()
    } else if (wanted !== '') setText('')
    else view.show(rows.length - 1)
  })
  // A link may lead to a row that is not drawn.
  const target = useFieldTarget()
  const position = target?.rowId === undefined ? -1 : rows.findIndex(({ row }) => row.id === target.rowId)
  const latest = useRef(view.show)
  latest.current = view.show
  useEffect(() => {
    if (!target || position < 0) return
    setText('')
    if (!body.current?.querySelector(`[data-row="${CSS.escape(target.rowId ?? '')}"]`)) latest.current(position)
  }, [target, position])
  const paste = (layered: LayeredRow<KeyValueRow>) => (pasted: string) => {
    const { pairs, problems } = parseEnvFile(pasted)
    const [pair] = pairs
    if (!pair || problems.length > 0) return false
    if (pairs.length > 1 && onPasteFile) {
      onPasteFile(pasted)
      return true
    }
    const known = new Map(own.map((row) => [row.key, row]))
    for (const one of pairs) known.set(one.key, { id: known.get(one.key)?.id ?? newId(), ...one })
    set([...known.values()].filter((row) => row.id !== layered.row.id || row.key !== ''))
    return true
  }
  return (
    <>
      {rows.length > searchFrom && (
        <div className="flex items-center gap-2 border-b border-line px-3 py-2">
          <SearchBox label={t('rows.find', { label })} value={text} onChange={setText} className="w-72 max-md:w-full" />
          {wanted !== '' && <span className="text-ink-2">{t('rows.found', { count: found.length })}</span>}
        </div>
      )}
      {found.length === 0 ? (
        <p className="px-3 py-2.5 text-ink-3">{t(rows.length > 0 ? 'rows.none' : `empty.${field}`)}</p>
      ) : (
        <table className="w-full table-fixed border-collapse max-md:block" aria-label={label}>
          <thead className="max-md:hidden">
            <tr>
              <th scope="col" className={cx(head, 'w-[30%]')}>
                {t('column.key')}
              </th>
              <th scope="col" className={head}>
                {t('column.value')}
              </th>
              {form.parent && (
                <th scope="col" className={cx(head, 'w-44')}>
                  {t('column.from')}
                </th>
              )}
              <th scope="col" className={cx(head, 'w-[50px]')}>
                <span className="sr-only">{t('column.actions')}</span>
              </th>
            </tr>
          </thead>
          <tbody ref={body} className="max-md:block">
            <Filler height={view.before} />
            {found.slice(view.first, view.last).map((layered, position) => (
              <Row
                key={layered.id}
                position={view.first + position}
                field={field}
                layered={layered}
                onChange={(part) => set(withRow(own, layered, part, newId))}
                onRemove={() => set(withoutRow(own, layered.index))}
                onEnter={list.add}
                onPaste={paste(layered)}
              />
            ))}
            <Filler height={view.after} />
          </tbody>
        </table>
      )}
      <RowErrors errors={form.errorsBelow(field)} />
    </>
  )
}

/** Takes the space of the rows that are not rendered. */
const Filler = ({ height }: { height: number }) =>
  height > 0 ? <tr aria-hidden style={{ height }} className="max-md:block" /> : null

const head = 'h-8 border-b border-line px-3 text-left text-small font-medium whitespace-nowrap text-ink-3'
const cell = 'h-[42px] border-b border-line px-3 group-last:border-0 max-md:h-auto max-md:border-0 max-md:p-0'

type RowProps = {
  field: KeyValueField
  layered: LayeredRow<KeyValueRow>
  position: number
  onChange: (part: Partial<KeyValueRow>) => void
  onRemove: () => void
  onEnter: () => void
  onPaste: (text: string) => boolean
}

function Row({ field, layered, position, onChange, onRemove, onEnter, onPaste }: RowProps) {
  const { t } = useTranslation(['configuration', 'common'])
  const { parent, getError, below, ambiguities } = useConfigForm()
  const { row, origin, index } = layered
  const removed = origin === 'removed'
  const part = `${field}.${row.key}`
  const takenBelow = origin === 'inherited' && row.value === null ? below.getOrigin(part) : undefined
  const secretLike = field === 'environment' && /password|secret|token/i.test(row.key) && !removed
  const at = (name: string) => (index < 0 ? undefined : getError(`${field}[${index}]${name}`))
  const inputId = `${field}.${origin === 'own' ? (row.id ?? row.key) : row.key}`
  return (
    <tr
      data-index={position}
      data-row={row.id}
      className="group max-md:grid max-md:grid-cols-[minmax(0,1fr)_auto] max-md:gap-1 max-md:border-b max-md:border-line max-md:px-3 max-md:py-2 max-md:last:border-0"
    >
      <td className={cell}>
        {origin === 'own' ? (
          <SettingInput
            inputId={`${inputId}.key`}
            label={t('column.key')}
            value={row.key}
            error={at('.key') ?? at('')}
            placeholder="NAME"
            lazy
            onChange={(key) => onChange({ key })}
            onPasteLines={onPaste}
          />
        ) : (
          <span className={cx('mono break-all', (removed || takenBelow) && 'text-ink-3 line-through')}>{row.key}</span>
        )}
      </td>
      <td className={cx(cell, 'max-md:col-span-2 max-md:row-start-2')}>
        {removed ? (
          <span className="flex items-center gap-2 text-ink-3">
            <s className="mono min-w-0 truncate max-md:hidden">{row.value}</s>
            <span className="whitespace-nowrap">{t('removedHere')}</span>
          </span>
        ) : (
          <span className="flex items-center gap-2">
            <SettingInput
              className="flex-1"
              inputId={inputId}
              label={t('valueOf', { key: row.key || t('column.key') })}
              value={row.value ?? ''}
              placeholder={takenBelow && t('removedBelow', { layer: layerLabels(t, takenBelow) })}
              error={at('.value') ?? ambiguities.find((ambiguity) => ambiguity.property === part)?.description}
              onChange={(value) => onChange({ value })}
              onEnter={onEnter}
            />
            {secretLike && (
              <span role="img" aria-label={t('secretHint')} data-tip={t('secretHint')} className="text-progress">
                <TriangleAlert aria-hidden />
              </span>
            )}
          </span>
        )}
      </td>
      {parent && (
        <td className={cx(cell, 'max-md:col-span-2')}>
          <OriginPill own={origin !== 'inherited'} part={part} />
        </td>
      )}
      <td className={cx(cell, 'text-right whitespace-nowrap max-md:col-start-2 max-md:row-start-1 max-md:w-auto')}>
        {(origin !== 'inherited' || row.value !== null) && (
          <RowButton
            name={row.key}
            origin={origin}
            onRemove={onRemove}
            onRemoveInherited={() => onChange({ value: null })}
          />
        )}
      </td>
    </tr>
  )
}
