import { type LayeredRow, newId, parsePastedPorts, portChanges } from '@crux/config-editor'
import { type ContainerConfigFields, portProtocols, proxyProtocols } from '@crux/contract'
import { overlappingRanges, rowKey } from '@crux/rules'
import { useTranslation } from 'react-i18next'
import { Button } from '../../../components/Button.tsx'
import { getSetting, useConfigForm } from '../form/config-context.ts'
import { SettingReset } from '../form/Origin.tsx'
import { RowErrors, Section } from '../form/Section.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { type FieldFilter, fits } from '../form/sections.ts'
import { type RowCell, type RowColumn, RowTable } from '../rows/RowTable.tsx'
import { useLayeredRows } from '../rows/use-layered-rows.ts'
import { PortGate } from './PortGate.tsx'
import { getText, SettingSelect } from './SettingControls.tsx'

type Port = NonNullable<ContainerConfigFields['ports']>[number]
type Range = NonNullable<ContainerConfigFields['portRanges']>[number]

const samePort = (a: Port, b: Port) => rowKey(a) === rowKey(b)

/** A text becomes a number, or NaN where it is none: the form shows what is wrong, and it is not sent. */
const toNumber = (text: string): number => (text === '' ? Number.NaN : Number(text))

/** Inside → outside, as in the engine's own list; without an outside port the container is reached in its networks only. */
export function PortsSection({ filter }: { filter: FieldFilter | undefined }) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const ports = useLayeredRows<Port, HTMLTableSectionElement>({
    own: form.own.ports,
    inherited: form.parent?.ports,
    same: samePort,
    onChange: (rows) => form.editAll(portChanges(form, rows)),
  })
  const ranges = useLayeredRows<Range, HTMLTableSectionElement>({
    own: form.own.portRanges,
    inherited: form.parent?.portRanges,
    same: overlappingRanges,
    onChange: (rows) => form.edit('portRanges', rows),
  })
  const rangeColumns = useRangeColumns()
  const count = ports.rows.length + ranges.rows.length
  /** `8080:80/udp` and ranges, as compose files write them. */
  const paste = ({ index }: LayeredRow<Port>, text: string) => {
    const found = parsePastedPorts(text)
    if (!found) return false
    const position = index < 0 ? ports.own.length : index
    const kept = ports.own.filter((row, at) => at !== position && !found.ports.some((port) => samePort(port, row)))
    const added = found.ranges.map((range) => ({ ...range, id: newId() }))
    form.editAll([
      ...portChanges(form, [...kept, ...found.ports.map((port) => ({ ...port, id: newId() }))]),
      ...(added.length > 0 ? [{ field: 'portRanges' as const, value: [...ranges.own, ...added] }] : []),
    ])
    return true
  }
  const portColumns = usePortColumns(ports.rows, paste)
  const addRange = () => {
    const empty = { from: Number.NaN, to: Number.NaN }
    ranges.add((id) => ({ id, internal: empty, external: empty }))
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
      trailing={count > 0 ? t('values.count', { count }) : undefined}
      reset="ports"
      actions={
        <>
          <SettingReset field="portRanges" label={t('field.portRanges')} />
          <Button size="sm" disabledReason={form.readOnly} onClick={addRange}>
            {t('ports.addRange')}
          </Button>
        </>
      }
      onAdd={() => ports.add((id) => ({ id, internal: Number.NaN, external: null }))}
    >
      {count === 0 && <p className="px-3 py-2.5 text-ink-3">{t('empty.ports')}</p>}
      {ports.rows.length > 0 && (
        <RowTable
          field="ports"
          label={t('section.ports')}
          list={ports}
          columns={portColumns}
          getName={(row) => getText(row.internal)}
        />
      )}
      {ranges.rows.length > 0 && (
        <RowTable
          field="portRanges"
          label={t('field.portRanges')}
          list={ranges}
          columns={rangeColumns}
          getName={({ internal }) => `${getText(internal.from)}-${getText(internal.to)}`}
          isSecond={ports.rows.length > 0}
        />
      )}
      <RowErrors errors={[form.getError('ports'), form.getError('portRanges')]} />
      {fits('portGate', filter) && <PortGate />}
    </Section>
  )
}

function usePortColumns(
  rows: readonly LayeredRow<Port>[],
  paste: (layered: LayeredRow<Port>, text: string) => boolean,
): RowColumn<Port>[] {
  const { t } = useTranslation(['configuration', 'common'])
  const proxyProtocol = useProxyProtocolColumns(rows)
  return [
    {
      id: 'internal',
      head: t('ports.internal'),
      width: 'w-[76px]',
      cell: ({ layered, row, input, change }) => (
        <SettingInput
          {...input}
          numeric
          lazy
          placeholder="8080"
          value={getText(row.internal)}
          disabled={layered.origin !== 'own'}
          onChange={(text) => change({ internal: toNumber(text) })}
          onPasteLines={layered.origin === 'own' ? (text) => paste(layered, text) : undefined}
        />
      ),
    },
    {
      id: 'external',
      head: t('ports.external'),
      cell: ({ row, input, change }) => (
        <SettingInput
          {...input}
          numeric
          placeholder={t('ports.unpublished')}
          value={getText(row.external)}
          onChange={(text) => change({ external: text === '' ? null : Number(text) })}
        />
      ),
    },
    {
      id: 'protocol',
      head: t('ports.protocol'),
      width: 'w-[98px]',
      cell: ({ layered, row, input, change }) => (
        <SettingSelect
          inputId={input.inputId}
          label={input.label}
          value={row.protocol ?? 'tcp'}
          disabled={layered.origin !== 'own'}
          onChange={(protocol) => change({ protocol })}
          options={portProtocols.map((protocol) => ({ value: protocol, label: protocol.toUpperCase() }))}
        />
      ),
    },
    {
      id: 'bindAddress',
      head: t('ports.address'),
      cell: ({ row, input, change }) => (
        <SettingInput
          {...input}
          placeholder={t('ports.anyAddress')}
          value={row.bindAddress ?? ''}
          onChange={(text) => change({ bindAddress: text || null })}
        />
      ),
    },
    ...proxyProtocol,
  ]
}

/** The column of the PROXY protocol, if any row has it. */
function useProxyProtocolColumns(rows: readonly LayeredRow<Port>[]): RowColumn<Port>[] {
  const { t } = useTranslation(['configuration', 'common'])
  const gated = getSetting(useConfigForm(), 'portGate').value?.enabled === true
  // Shown where it has an effect, or where a value is already set.
  const hasProxyProtocol = (row: Port) =>
    Boolean(row.proxyProtocol) || (gated && Boolean(row.external) && row.protocol !== 'udp')
  if (!rows.some(({ row }) => hasProxyProtocol(row))) return []
  return [
    {
      id: 'proxyProtocol',
      head: t('ports.proxyProtocol'),
      width: 'w-[108px]',
      cell: ({ row, input, change }) =>
        hasProxyProtocol(row) && (
          <SettingSelect
            {...input}
            title={t('ports.proxyProtocolHelp')}
            value={row.proxyProtocol ?? ''}
            onChange={(chosen) => change({ proxyProtocol: chosen || null })}
            options={[
              { value: '', label: t('ports.noProxyProtocol') },
              ...proxyProtocols.map((known) => ({ value: known, label: known })),
            ]}
          />
        ),
    },
  ]
}

function useRangeColumns(): RowColumn<Range>[] {
  const { t } = useTranslation(['configuration', 'common'])
  const cell =
    (side: 'internal' | 'external') =>
    ({ row, input, change, getError }: RowCell<Range>) => {
      const end = (which: 'from' | 'to') => (
        <SettingInput
          className="w-[84px]"
          numeric
          lazy
          inputId={`${input.inputId}.${which}`}
          label={t(`ports.range.${side}.${which}`)}
          placeholder={t(`ports.${which}`)}
          value={getText(row[side][which])}
          error={getError(`${side}.${which}`)}
          onChange={(text) => change({ [side]: { ...row[side], [which]: toNumber(text) } })}
        />
      )
      return (
        <span className="flex items-center gap-1.5">
          {end('from')}
          <span className="text-ink-3">-</span>
          {end('to')}
        </span>
      )
    }
  return [
    { id: 'internal', head: t('ports.rangeInside'), cell: cell('internal') },
    { id: 'external', head: t('ports.rangeOutside'), cell: cell('external') },
  ]
}
