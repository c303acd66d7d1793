import {
  type LayeredRow,
  layerRows,
  newId,
  parsePastedPorts,
  portChanges,
  withoutRow,
  withRow,
} from '@crux/config-editor'
import { type ContainerConfigFields, portProtocols, proxyProtocols } from '@crux/contract'
import { rowKey } from '@crux/rules'
import { useTranslation } from 'react-i18next'
import { Button } from '../../../components/Button.tsx'
import { Select } from '../../../components/Field.tsx'
import { settingOf, useConfigForm } from '../form/config-context.ts'
import { SettingReset } from '../form/Origin.tsx'
import { PresenceHighlight } from '../form/PresenceHighlight.tsx'
import { RowErrors, Section } from '../form/Section.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { type FieldFilter, fits } from '../form/sections.ts'
import { rowProperty } from '../form/start-problems.ts'
import { RowTable, TableRow } from '../rows/RowTable.tsx'
import { useFocusRow } from '../rows/use-focus-row.ts'
import { PortGate } from './PortGate.tsx'

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
export function PortsSection({ filter }: { filter: FieldFilter | undefined }) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const own = form.own.ports ?? []
  const ownRanges = form.own.portRanges ?? []
  const rows = layerRows<Port>(own, form.parent?.ports ?? [], samePort)
  const ranges = layerRows<Range>(ownRanges, form.parent?.portRanges ?? [], overlaps)
  const setPorts = (ports: readonly Port[]) => form.editAll(portChanges(form, ports))
  const { rows: portBody, focusRow: focusPort } = useFocusRow<HTMLTableSectionElement>()
  const { rows: rangeBody, focusRow: focusRange } = useFocusRow<HTMLTableSectionElement>()
  const gated = settingOf(form, 'portGate').value?.enabled === true
  // Shown where it has an effect, or where a value is already set.
  const withProxy = rows.some(({ row }) => hasProxyProtocol(row, gated))
  const addPort = () => {
    const id = newId()
    setPorts([...own, { id, internal: Number.NaN, external: null }])
    focusPort(id)
  }
  const addRange = () => {
    const id = newId()
    const empty = { from: Number.NaN, to: Number.NaN }
    form.edit('portRanges', [...ownRanges, { id, internal: empty, external: empty }])
    focusRange(id)
  }
  /** `8080:80/udp` and ranges, as compose files write them. */
  const paste = (layered: LayeredRow<Port>) => (text: string) => {
    const found = parsePastedPorts(text)
    if (!found) return false
    const place = layered.index < 0 ? own.length : layered.index
    const kept = own.filter((row, at) => at !== place && !found.ports.some((port) => samePort(port, row)))
    const changes = portChanges(form, [...kept, ...found.ports.map((port) => ({ ...port, id: newId() }))])
    const ranges = found.ranges.map((range) => ({ ...range, id: newId() }))
    form.editAll([
      ...changes,
      ...(ranges.length > 0 ? [{ field: 'portRanges' as const, value: [...ownRanges, ...ranges] }] : []),
    ])
    return true
  }
  // What holds ports open is for Docker, the ports themselves are for every node.
  if (!fits('ports', filter))
    return (
      <Section id="ports">
        <PortGate alone />
      </Section>
    )
  return (
    <Section
      id="ports"
      trailing={rows.length + ranges.length > 0 ? t('values.count', { count: rows.length + ranges.length }) : undefined}
      actions={
        <>
          <SettingReset field="ports" label={t('section.ports')} />
          <SettingReset field="portRanges" label={t('field.portRanges')} />
          <Button size="sm" disabledReason={form.readOnly} onClick={addRange}>
            {t('ports.addRange')}
          </Button>
        </>
      }
      onAdd={addPort}
    >
      {rows.length + ranges.length === 0 && <p className="px-3 py-2.5 text-ink-3">{t('empty.ports')}</p>}
      {rows.length > 0 && (
        <RowTable
          label={t('section.ports')}
          rows={portBody}
          columns={[
            { id: 'internal', head: t('ports.internal'), width: 'w-[76px]' },
            { id: 'external', head: t('ports.external') },
            { id: 'protocol', head: t('ports.protocol'), width: 'w-[98px]' },
            { id: 'address', head: t('ports.address') },
            ...(withProxy ? [{ id: 'proxyProtocol', head: t('ports.proxyProtocol'), width: 'w-[108px]' }] : []),
          ]}
        >
          {rows.map((layered) => (
            <PortRow
              key={layered.id}
              layered={layered}
              gated={gated}
              withProxy={withProxy}
              onChange={(part) => setPorts(withRow(own, layered, part, newId))}
              onPaste={paste(layered)}
              onRemove={() => setPorts(withoutRow(own, layered.index))}
            />
          ))}
        </RowTable>
      )}
      {ranges.length > 0 && (
        <RowTable
          label={t('field.portRanges')}
          rows={rangeBody}
          isSecond={rows.length > 0}
          columns={[
            { id: 'internal', head: t('ports.rangeInside') },
            { id: 'external', head: t('ports.rangeOutside') },
          ]}
        >
          {ranges.map((layered) => (
            <RangeRow
              key={layered.id}
              layered={layered}
              onChange={(part) => form.edit('portRanges', withRow(ownRanges, layered, part, newId))}
              onRemove={() => form.edit('portRanges', withoutRow(ownRanges, layered.index))}
            />
          ))}
        </RowTable>
      )}
      <RowErrors errors={[form.errorOf('ports'), form.errorOf('portRanges')]} />
      {fits('portGate', filter) && <PortGate />}
    </Section>
  )
}

type RowProps<Row> = { layered: LayeredRow<Row>; onChange: (part: Partial<Row>) => void; onRemove: () => void }

const hasProxyProtocol = (row: Port, gated: boolean): boolean =>
  Boolean(row.proxyProtocol) || (gated && Boolean(row.external) && row.protocol !== 'udp')

type PortRowProps = RowProps<Port> & { gated: boolean; withProxy: boolean; onPaste: (text: string) => boolean }

function PortRow({ layered, gated, withProxy, onChange, onPaste, onRemove }: PortRowProps) {
  const { t } = useTranslation(['configuration', 'common'])
  const { errorOf, errorsBelow, readOnly } = useConfigForm()
  const { row, origin, index } = layered
  const property = rowProperty('ports', index, row)
  const error = (part: string) => errorOf(`${property}.${part}`)
  return (
    <TableRow
      layered={layered}
      part={`ports.${rowKey(row)}`}
      name={textOf(row.internal)}
      errors={errorsBelow(property)}
      onRemove={onRemove}
      cells={[
        <SettingInput
          key="internal"
          numeric
          lazy
          inputId={`ports.${layered.id}.internal`}
          label={t('ports.internal')}
          placeholder="8080"
          value={textOf(row.internal)}
          disabled={origin !== 'own'}
          error={error('internal')}
          onChange={(text) => onChange({ internal: numberOf(text) })}
          onPasteLines={origin === 'own' ? onPaste : undefined}
        />,
        <SettingInput
          key="external"
          numeric
          inputId={`ports.${layered.id}.external`}
          label={t('ports.external')}
          placeholder={t('ports.unpublished')}
          value={textOf(row.external)}
          error={error('external')}
          onChange={(text) => onChange({ external: text === '' ? null : Number(text) })}
        />,
        <PresenceHighlight key="protocol" inputId={`ports.${layered.id}.protocol`} className="w-full">
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
        </PresenceHighlight>,
        <SettingInput
          key="address"
          inputId={`ports.${layered.id}.bindAddress`}
          label={t('ports.address')}
          placeholder={t('ports.anyAddress')}
          value={row.bindAddress ?? ''}
          error={error('bindAddress')}
          onChange={(text) => onChange({ bindAddress: text || null })}
        />,
        withProxy && hasProxyProtocol(row, gated) && (
          <PresenceHighlight key="proxyProtocol" inputId={`ports.${layered.id}.proxyProtocol`} className="w-full">
            <Select
              aria-label={t('ports.proxyProtocol')}
              title={t('ports.proxyProtocolHelp')}
              value={row.proxyProtocol ?? ''}
              disabled={readOnly !== null}
              aria-invalid={error('proxyProtocol') ? true : undefined}
              onChange={(event) =>
                onChange({ proxyProtocol: proxyProtocols.find((known) => known === event.target.value) ?? null })
              }
            >
              <option value="">{t('ports.noProxyProtocol')}</option>
              {proxyProtocols.map((known) => (
                <option key={known} value={known}>
                  {known}
                </option>
              ))}
            </Select>
          </PresenceHighlight>
        ),
      ]}
    />
  )
}

function RangeRow({ layered, onChange, onRemove }: RowProps<Range>) {
  const { t } = useTranslation(['configuration', 'common'])
  const { errorOf, errorsBelow } = useConfigForm()
  const { row, index } = layered
  const property = rowProperty('portRanges', index, row)
  const end = (name: 'internal' | 'external', which: 'from' | 'to') => (
    <SettingInput
      className="w-[84px]"
      numeric
      lazy
      inputId={`portRanges.${layered.id}.${name}.${which}`}
      label={t(`ports.range.${name}.${which}`)}
      placeholder={t(`ports.${which}`)}
      value={textOf(row[name][which])}
      error={errorOf(`${property}.${name}.${which}`)}
      onChange={(text) => onChange({ [name]: { ...row[name], [which]: numberOf(text) } })}
    />
  )
  const range = (name: 'internal' | 'external') => (
    <span key={name} className="flex items-center gap-1.5">
      {end(name, 'from')}
      <span className="text-ink-3">-</span>
      {end(name, 'to')}
    </span>
  )
  return (
    <TableRow
      layered={layered}
      part={`portRanges.${rowKey(row)}`}
      name={`${textOf(row.internal.from)}-${textOf(row.internal.to)}`}
      errors={errorsBelow(property)}
      onRemove={onRemove}
      cells={[range('internal'), range('external')]}
    />
  )
}
