import { newId } from '@crux/config-editor'
import type { ContainerConfigFields } from '@crux/contract'
import { ArrowDown, ArrowUp, X } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { IconButton } from '../../../components/Button.tsx'
import { settingOf, useConfigForm } from '../form/config-context.ts'
import { SettingOrigin } from '../form/Origin.tsx'
import { RowErrors, Section, Setting, SettingGrid } from '../form/Section.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { PairRows } from '../rows/PairRows.tsx'
import { RemoveRow } from '../rows/RemoveRow.tsx'
import { useFocusRow } from '../rows/use-focus-row.ts'
import { useTrailingRow } from '../rows/use-trailing-row.ts'
import { WordRows } from '../rows/WordRows.tsx'
import { SettingSwitch } from './SettingControls.tsx'

type Init = NonNullable<ContainerConfigFields['initContainers']>[number]
type Mount = NonNullable<Init['volumes']>[number]

/** Containers that run to their end, one after another, before this one starts. The highest layer with a list replaces the others. */
export function InitContainersSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const rows = settingOf(form, 'initContainers').value ?? []
  const { rows: body, focusRow } = useFocusRow<HTMLOListElement>()
  const set = (next: Init[]) => form.edit('initContainers', next)
  const move = (from: number, by: 1 | -1) => {
    const next = [...rows]
    const [row] = next.splice(from, 1)
    if (row) next.splice(from + by, 0, row)
    set(next)
  }
  return (
    <Section
      id="initContainers"
      trailing={rows.length > 0 ? t('initContainers.aside') : undefined}
      actions={<SettingOrigin field="initContainers" label={t('section.initContainers')} />}
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
                <IconButton
                  icon={ArrowUp}
                  size="sm"
                  label={t('moveUp', { number: index + 1 })}
                  disabledReason={form.readOnly ?? (index === 0 && t('isFirst'))}
                  onClick={() => move(index, -1)}
                />
                <IconButton
                  icon={ArrowDown}
                  size="sm"
                  label={t('moveDown', { number: index + 1 })}
                  disabledReason={form.readOnly ?? (index === rows.length - 1 && t('isLast'))}
                  onClick={() => move(index, 1)}
                />
                <IconButton
                  icon={X}
                  size="sm"
                  label={t('removeRow', { key: row.name || String(index + 1) })}
                  disabledReason={form.readOnly}
                  onClick={() => set(rows.filter((_, at) => at !== index))}
                />
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
        errors={[form.errorOf('initContainers'), ...rows.map((_, at) => form.errorOf(`initContainers[${at}]`))]}
      />
    </Section>
  )
}

function InitContainer({
  row,
  index,
  onChange,
}: {
  row: Init
  index: number
  onChange: (part: Partial<Init>) => void
}) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const at = `initContainers[${index}]`
  const id = `initContainers.${row.id ?? index}`
  const text = (name: 'name' | 'image', placeholder: string) => (
    <Setting label={t(`initContainers.${name}`)} error={form.errorOf(`${at}.${name}`)}>
      <SettingInput
        inputId={`${id}.${name}`}
        label={t(`initContainers.${name}`)}
        placeholder={placeholder}
        value={row[name]}
        error={form.errorOf(`${at}.${name}`)}
        onChange={(value) => onChange({ [name]: value })}
      />
    </Setting>
  )
  const words = (name: 'command' | 'args') => (
    <Setting label={t(`initContainers.${name}`)} error={form.errorOf(`${at}.${name}`)}>
      <WordRows
        property={`${at}.${name}`}
        label={t(`initContainers.${name}`)}
        rows={row[name] ?? []}
        placeholder={t('asImage')}
        onChange={(next) => onChange({ [name]: next })}
      />
    </Setting>
  )
  return (
    <SettingGrid>
      {text('name', 'migrate')}
      {text('image', 'acme/migrate:1')}
      {words('command')}
      {words('args')}
      <Setting label={t('initContainers.environment')} error={form.errorOf(`${at}.environment`)}>
        <PairRows
          property={`${at}.environment`}
          label={t('initContainers.environment')}
          rows={row.environment ?? []}
          onChange={(next) => onChange({ environment: next.map((pair) => ({ ...pair, value: pair.value ?? '' })) })}
        />
      </Setting>
      <Setting
        label={t('initContainers.volumes')}
        error={form.errorOf(`${at}.volumes`)}
        help={t('initContainers.volumesHelp')}
      >
        <MountRows property={`${at}.volumes`} rows={row.volumes ?? []} onChange={(volumes) => onChange({ volumes })} />
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

function MountRows({
  property,
  rows,
  onChange,
}: {
  property: string
  rows: readonly Mount[]
  onChange: (rows: Mount[]) => void
}) {
  const { t } = useTranslation(['configuration', 'common'])
  const { errorOf } = useConfigForm()
  const list = useTrailingRow<Mount>(rows, {
    blank: (id) => ({ id, name: '', path: '' }),
    isBlank: (row) => row.name === '' && row.path === '',
    onChange,
  })
  return (
    <ul className="grid gap-1.5">
      {list.rows.map((row, index) => (
        <li key={row.id ?? index} className="flex items-center gap-1">
          {(['name', 'path'] as const).map((part) => (
            <SettingInput
              key={part}
              className="flex-1"
              inputId={`${property}.${row.id ?? index}.${part}`}
              label={`${t('initContainers.volumes')}: ${t(`volumes.${part}`)} ${index + 1}`}
              placeholder={list.isSpare(index) ? (part === 'name' ? 'data' : '/data') : undefined}
              value={row[part]}
              error={errorOf(`${property}[${index}].${part}`)}
              onChange={(value) => list.set(index, { [part]: value })}
            />
          ))}
          <span className="w-[26px]">
            {!list.isSpare(index) && <RemoveRow name={row.name} onRemove={() => list.remove(index)} />}
          </span>
        </li>
      ))}
    </ul>
  )
}
