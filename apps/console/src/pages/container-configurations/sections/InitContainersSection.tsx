import { newId } from '@crux/config-editor'
import type { ContainerConfigFields } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { getSetting, useConfigForm } from '../form/config-context.ts'
import { RowErrors, Section, Setting, SettingGrid } from '../form/Section.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { toLines } from '../rows/ListRows.tsx'
import { MoveButtons, RowButton } from '../rows/RowButtons.tsx'
import { PairRows, TextRows } from '../rows/TextRows.tsx'
import { useFocusRow } from '../rows/use-focus-row.ts'
import { SettingSwitch } from './SettingControls.tsx'

type Init = NonNullable<ContainerConfigFields['initContainers']>[number]

/** Containers that run to their end, one after another, before this one starts. The highest layer with a list replaces the others. */
export function InitContainersSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const rows = getSetting(form, 'initContainers').value ?? []
  const { rows: body, focusRow } = useFocusRow<HTMLOListElement>()
  const set = (next: Init[]) => form.edit('initContainers', next)
  return (
    <Section
      id="initContainers"
      trailing={rows.length > 0 ? t('initContainers.note') : undefined}
      origin="initContainers"
      onAdd={() => {
        const id = newId()
        set([...rows, { id, name: '', image: '', useParentConfig: false }])
        focusRow(id)
      }}
    >
      {rows.length === 0 && <p className="px-3 py-2.5 text-ink-3">{t('empty.initContainers')}</p>}
      <ol ref={body} className="divide-y divide-line">
        {rows.map((row, index) => (
          <li key={row.id ?? index} data-row={row.id}>
            <div className="flex items-center gap-1 px-3 pt-2.5">
              <b className="font-strong">{t('initContainers.number', { number: index + 1 })}</b>
              <span className="mono ml-2 text-ink-2">{row.name}</span>
              <span className="ml-auto flex gap-1">
                <MoveButtons rows={rows} index={index} onChange={set} />
                <RowButton name={row.name || String(index + 1)} onRemove={() => set(rows.toSpliced(index, 1))} />
              </span>
            </div>
            <InitContainer
              row={row}
              index={index}
              onChange={(part) => set(rows.map((other, at) => (at === index ? { ...other, ...part } : other)))}
            />
          </li>
        ))}
      </ol>
      <RowErrors
        errors={[form.getError('initContainers'), ...rows.map((_, at) => form.getError(`initContainers[${at}]`))]}
      />
    </Section>
  )
}

type InitContainerProps = { row: Init; index: number; onChange: (part: Partial<Init>) => void }

function InitContainer({ row, index, onChange }: InitContainerProps) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const at = `initContainers[${index}]`
  const id = `initContainers.${row.id ?? index}`
  const text = (name: 'name' | 'image', placeholder: string) => (
    <Setting label={t(`initContainers.${name}`)} error={form.getError(`${at}.${name}`)}>
      <SettingInput
        inputId={`${id}.${name}`}
        label={t(`initContainers.${name}`)}
        placeholder={placeholder}
        value={row[name]}
        error={form.getError(`${at}.${name}`)}
        onChange={(value) => onChange({ [name]: value })}
      />
    </Setting>
  )
  const words = (name: 'command' | 'args') => (
    <Setting label={t(`initContainers.${name}`)} error={form.getError(`${at}.${name}`)}>
      <TextRows
        property={`${at}.${name}`}
        label={t(`initContainers.${name}`)}
        rows={row[name] ?? []}
        columns={[
          {
            name: 'key',
            label: (_, number) => t('numbered', { label: t(`initContainers.${name}`), number }),
            placeholder: t('asImage'),
          },
        ]}
        blank={(rowId) => ({ id: rowId, key: '' })}
        onChange={(next) => onChange({ [name]: next })}
        parse={(text) => toLines(text).map((line) => ({ id: newId(), key: line.trim() }))}
      />
    </Setting>
  )
  const mountColumn = (name: 'name' | 'path', placeholder: string) => ({
    name,
    label: (_: unknown, number: number) => `${t('initContainers.volumes')}: ${t(`volumes.${name}`)} ${number}`,
    placeholder,
  })
  return (
    <SettingGrid>
      {text('name', 'migrate')}
      {text('image', 'acme/migrate:1')}
      {words('command')}
      {words('args')}
      <Setting label={t('initContainers.environment')} error={form.getError(`${at}.environment`)}>
        <PairRows
          property={`${at}.environment`}
          label={t('initContainers.environment')}
          rows={row.environment ?? []}
          onChange={(next) => onChange({ environment: next.map((pair) => ({ ...pair, value: pair.value ?? '' })) })}
        />
      </Setting>
      <Setting
        label={t('initContainers.volumes')}
        error={form.getError(`${at}.volumes`)}
        help={t('initContainers.volumesHelp')}
      >
        <TextRows
          property={`${at}.volumes`}
          rows={row.volumes ?? []}
          columns={[mountColumn('name', 'data'), mountColumn('path', '/data')]}
          blank={(rowId) => ({ id: rowId, name: '', path: '' })}
          onChange={(volumes) => onChange({ volumes })}
        />
      </Setting>
      <Setting wide label={t('initContainers.useParentConfig')} help={t('initContainers.useParentConfigHelp')}>
        <SettingSwitch
          inputId={`${id}.useParentConfig`}
          label={t('initContainers.useParentConfig')}
          value={row.useParentConfig}
          onChange={(useParentConfig) => onChange({ useParentConfig })}
        />
      </Setting>
    </SettingGrid>
  )
}
