import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Chips } from '../../../components/Chips.tsx'
import { Select } from '../../../components/Field.tsx'
import { Switch } from '../../../components/Switch.tsx'
import { useConfigForm } from '../form/config-context.ts'
import { SettingReset } from '../form/Origin.tsx'
import { PresenceHighlight } from '../form/PresenceHighlight.tsx'
import { Setting } from '../form/Section.tsx'
import { ListRows } from '../rows/ListRows.tsx'

type ControlProps<Value> = { inputId: string; label: string; value: Value; onChange: (value: Value) => void }

/** A switch, as high as the inputs beside it. */
export function SettingSwitch({ inputId, label, value, onChange }: ControlProps<boolean>) {
  const { readOnly } = useConfigForm()
  return (
    <span className="flex h-[30px] items-center">
      <PresenceHighlight inputId={inputId}>
        <Switch label={label} checked={value} disabled={readOnly !== null} onChange={onChange} />
      </PresenceHighlight>
    </span>
  )
}

/** A choice between a few options. */
export function SettingChips<Value extends string>({
  inputId,
  options,
  ...chips
}: ControlProps<Value> & { options: readonly { value: Value; label: string; disabled?: boolean }[] }) {
  const { readOnly } = useConfigForm()
  return (
    <PresenceHighlight inputId={inputId}>
      <Chips {...chips} options={options} disabled={readOnly !== null} />
    </PresenceHighlight>
  )
}

/** The ports of the container in this layer or lower ones. */
export function usePorts(): number[] {
  const { own, parent } = useConfigForm()
  const ports = [...(own.ports ?? []), ...(parent?.ports ?? [])].map((port) => port.internal)
  return [...new Set(ports.filter((port) => !Number.isNaN(port)))]
}

type PortProps = ControlProps<number | null> & { origin?: ReactNode }

/** One of the container's ports; none is the first one. The selected value stays an option when its port is deleted. */
export function PortSetting({ inputId, label, value, origin, onChange }: PortProps) {
  const { t } = useTranslation(['configuration', 'common'])
  const { readOnly, errorOf } = useConfigForm()
  const ports = usePorts()
  const choices = value === null || ports.includes(value) ? ports : [...ports, value]
  return (
    <Setting
      label={label}
      origin={origin}
      error={errorOf(inputId)}
      help={ports.length === 0 ? t('routing.noPorts') : undefined}
    >
      <PresenceHighlight inputId={inputId} className="w-full">
        <Select
          aria-label={label}
          value={value ?? ''}
          disabled={readOnly !== null || choices.length === 0}
          onChange={(event) => onChange(event.target.value === '' ? null : Number(event.target.value))}
        >
          <option value="">{t('routing.firstPort')}</option>
          {choices.map((port) => (
            <option key={port} value={port}>
              {port}
            </option>
          ))}
        </Select>
      </PresenceHighlight>
    </Setting>
  )
}

type ListProps = {
  field: 'networks' | 'customHeaders'
  /** Name of one row, and of the button that adds one. */
  one: string
  add: string
  help: string
  placeholder: string
}

/** Single values that are united with those of the layers below. */
export function ListSetting({ field, one, add, help, placeholder }: ListProps) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const own = form.own[field] ?? []
  const inherited = (form.parent?.[field] ?? []).filter((row) => !own.some((mine) => mine.key === row.key))
  const rowError = own.map((_, index) => form.errorOf(`${field}[${index}].key`)).find(Boolean)
  return (
    <Setting
      label={t(`field.${field}`)}
      origin={<SettingReset field={field} label={t(`field.${field}`)} />}
      error={form.errorOf(field) ?? rowError}
      help={help}
    >
      <ListRows
        field={field}
        label={one}
        addLabel={add}
        inherited={inherited}
        rows={own}
        own
        onChange={(rows) => form.edit(field, rows)}
        placeholder={placeholder}
      />
    </Setting>
  )
}
