import { type ContainerConfigFields, portProtocols } from '@crux/contract'
import { rowKey } from '@crux/rules'
import { ArrowRight, Undo2, X } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button, IconButton } from '../../components/Button.tsx'
import { Select } from '../../components/Field.tsx'
import { ConflictNotes } from './ConflictNote.tsx'
import { useConfigForm } from './config-context.ts'
import { type LayeredRow, layerRows, withoutRow, withRow } from './keyed-rows.ts'
import { newId } from './new-id.ts'
import { OriginPill } from './Origin.tsx'
import { RowErrors, Section } from './Section.tsx'
import { SettingInput } from './SettingInput.tsx'
import { SettingReset } from './SettingReset.tsx'

type Port = NonNullable<ContainerConfigFields['ports']>[number]
type Range = NonNullable<ContainerConfigFields['portRanges']>[number]

const samePort = (a: Port, b: Port) => rowKey(a) === rowKey(b)
const overlaps = (a: Range, b: Range) =>
  (['internal', 'external'] as const).some((side) => a[side].from <= b[side].to && b[side].from <= a[side].to)

/** A text becomes a number, or NaN where it is none: the form shows what is wrong, and it is not sent. */
const numberOf = (text: string): number => (text === '' ? Number.NaN : Number(text))
const textOf = (number: number | null | undefined): string =>
  number === null || number === undefined || Number.isNaN(number) ? '' : String(number)

/** Inside → outside, as in the engine's own list; without an outside port the container is reached in its networks only. */
export function PortsSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const own = form.own.ports ?? []
  const ownRanges = form.own.portRanges ?? []
  const rows = layerRows<Port>(own, form.parent?.ports ?? [], samePort)
  const ranges = layerRows<Range>(ownRanges, form.parent?.portRanges ?? [], overlaps)
  const addPort = () => form.edit('ports', [...own, { id: newId(), internal: Number.NaN, external: null }])
  const addRange = () => {
    const empty = { from: Number.NaN, to: Number.NaN }
    form.edit('portRanges', [...ownRanges, { id: newId(), internal: empty, external: empty }])
  }
  const errors = [
    form.errorOf('ports'),
    form.errorOf('portRanges'),
    ...own.flatMap((_, index) =>
      ['', '.internal', '.external', '.protocol', '.bindAddress'].map((part) => form.errorOf(`ports[${index}]${part}`)),
    ),
    ...ownRanges.flatMap((_, index) =>
      ['', '.internal.from', '.internal.to', '.external.from', '.external.to'].map((part) =>
        form.errorOf(`portRanges[${index}]${part}`),
      ),
    ),
  ]
  return (
    <Section
      id="ports"
      title={t('section.ports')}
      aside={rows.length + ranges.length > 0 ? t('values.count', { count: rows.length + ranges.length }) : undefined}
      tools={
        <>
          <SettingReset field="ports" label={t('section.ports')} />
          <Button size="sm" disabledReason={form.readOnly} onClick={addRange}>
            {t('ports.addRange')}
          </Button>
        </>
      }
      onAdd={addPort}
    >
      <ConflictNotes field="ports" />
      <ConflictNotes field="portRanges" />
      {rows.length + ranges.length === 0 && <p className="px-3 py-2.5 text-ink-3">{t('empty.ports')}</p>}
      <div className="grid gap-2 px-3 py-3 empty:hidden">
        {rows.map((layered) => (
          <PortRow
            key={layered.id}
            layered={layered}
            onChange={(part) => form.edit('ports', withRow(own, layered, part, newId))}
            onRemove={() => form.edit('ports', withoutRow(own, layered.index))}
          />
        ))}
        {ranges.map((layered) => (
          <RangeRow
            key={layered.id}
            layered={layered}
            onChange={(part) => form.edit('portRanges', withRow(ownRanges, layered, part, newId))}
            onRemove={() => form.edit('portRanges', withoutRow(ownRanges, layered.index))}
          />
        ))}
      </div>
      <RowErrors errors={errors} />
    </Section>
  )
}

type RowProps<Row> = { layered: LayeredRow<Row>; onChange: (part: Partial<Row>) => void; onRemove: () => void }

function PortRow({ layered, onChange, onRemove }: RowProps<Port>) {
  const { t } = useTranslation(['configuration', 'common'])
  const { errorOf, readOnly } = useConfigForm()
  const { row, origin, index } = layered
  const error = (part: string) => (index < 0 ? undefined : errorOf(`ports[${index}]${part}`))
  return (
    <div className="flex flex-wrap items-center gap-2">
      <SettingInput
        className="w-[110px]"
        numeric
        lazy
        inputId={`ports.${layered.id}.internal`}
        label={t('ports.internal')}
        placeholder={t('ports.internal')}
        value={textOf(row.internal)}
        disabled={origin !== 'own'}
        error={error('.internal')}
        onChange={(text) => onChange({ internal: numberOf(text) })}
      />
      <ArrowRight aria-hidden className="text-ink-3" />
      <SettingInput
        className="w-[110px]"
        numeric
        inputId={`ports.${layered.id}.external`}
        label={t('ports.external')}
        placeholder={t('ports.unpublished')}
        value={textOf(row.external)}
        error={error('.external')}
        onChange={(text) => onChange({ external: text === '' ? null : Number(text) })}
      />
      <span className="w-[88px]">
        <Select
          aria-label={t('ports.protocol')}
          value={row.protocol ?? 'tcp'}
          disabled={readOnly !== null || origin !== 'own'}
          onChange={(event) =>
            onChange({ protocol: portProtocols.find((protocol) => protocol === event.target.value) })
          }
        >
          {portProtocols.map((protocol) => (
            <option key={protocol} value={protocol}>
              {protocol.toUpperCase()}
            </option>
          ))}
        </Select>
      </span>
      <SettingInput
        className="w-[150px]"
        inputId={`ports.${layered.id}.address`}
        label={t('ports.address')}
        placeholder={t('ports.anyAddress')}
        value={row.bindAddress ?? ''}
        error={error('.bindAddress')}
        onChange={(text) => onChange({ bindAddress: text || null })}
      />
      <RowEnd layered={layered} name={textOf(row.internal)} onRemove={onRemove} />
    </div>
  )
}

function RangeRow({ layered, onChange, onRemove }: RowProps<Range>) {
  const { t } = useTranslation(['configuration', 'common'])
  const { errorOf } = useConfigForm()
  const { row, index } = layered
  const side = (name: 'internal' | 'external', end: 'from' | 'to') => (
    <SettingInput
      className="w-[86px]"
      numeric
      lazy
      inputId={`portRanges.${layered.id}.${name}.${end}`}
      label={t(`ports.range.${name}.${end}`)}
      placeholder={t(`ports.${end}`)}
      value={textOf(row[name][end])}
      error={index < 0 ? undefined : errorOf(`portRanges[${index}].${name}.${end}`)}
      onChange={(text) => onChange({ [name]: { ...row[name], [end]: numberOf(text) } })}
    />
  )
  return (
    <div className="flex flex-wrap items-center gap-2">
      {side('internal', 'from')}
      <span className="text-ink-3">-</span>
      {side('internal', 'to')}
      <ArrowRight aria-hidden className="text-ink-3" />
      {side('external', 'from')}
      <span className="text-ink-3">-</span>
      {side('external', 'to')}
      <RowEnd layered={layered} name={`${textOf(row.internal.from)}-${textOf(row.internal.to)}`} onRemove={onRemove} />
    </div>
  )
}

/** Origin and what can be done: an own row goes, an override goes back, one of the image is changed there. */
export function RowEnd<Row>({
  layered,
  name,
  onRemove,
}: {
  layered: LayeredRow<Row>
  name: string
  onRemove: () => void
}) {
  const { t } = useTranslation(['configuration', 'common'])
  const { readOnly } = useConfigForm()
  const { origin } = layered
  return (
    <span className="ml-auto flex items-center gap-1">
      <OriginPill own={origin !== 'inherited'} />
      {origin === 'override' ? (
        <IconButton
          icon={Undo2}
          size="sm"
          label={t('reset.row', { key: name })}
          disabledReason={readOnly}
          onClick={onRemove}
        />
      ) : (
        <IconButton
          icon={X}
          size="sm"
          label={t('removeRow', { key: name })}
          disabledReason={readOnly ?? (origin === 'inherited' && t('inheritedRow'))}
          onClick={onRemove}
        />
      )}
    </span>
  )
}
