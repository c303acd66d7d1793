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
type Option<Value, Label> = { value: Value; label: Label; disabled?: boolean }

/** A number or text as an input shows it. NaN is a text that is no number: the input shows what was typed itself. */
export const getText = (value: unknown): string =>
  value === null || value === undefined || Number.isNaN(value) ? '' : String(value)

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
  disabled,
  ...chips
}: ControlProps<Value> & { options: readonly Option<Value, ReactNode>[]; disabled?: boolean }) {
  const { readOnly } = useConfigForm()
  return (
    <PresenceHighlight inputId={inputId}>
      <Chips {...chips} disabled={readOnly !== null || disabled} />
    </PresenceHighlight>
  )
}

type SelectProps<Value> = ControlProps<Value> & {
  options: readonly Option<Value, string>[]
  disabled?: boolean
  title?: string
  error?: string
}

/** A choice between many options. */
export function SettingSelect<Value extends string>({
  inputId,
  label,
  value,
  options,
  disabled,
  title,
  error,
  onChange,
}: SelectProps<Value>) {
  const { readOnly } = useConfigForm()
  return (
    <PresenceHighlight inputId={inputId} className="w-full">
      <Select
        aria-label={label}
        aria-invalid={error ? true : undefined}
        title={title}
        value={value}
        options={options}
        disabled={readOnly !== null || disabled}
        onChange={(event) => {
          const chosen = options.find((option) => option.value === event.target.value)
          if (chosen) onChange(chosen.value)
        }}
      />
    </PresenceHighlight>
  )
}

/** The ports of the container in this layer or lower ones. */
export function usePorts(): number[] {
  const { own, parent } = useConfigForm()
  const ports = [...(own.ports ?? []), ...(parent?.ports ?? [])].map((port) => port.internal)
  return [...new Set(ports.filter((port) => !Number.isNaN(port)))]
}

/** One of the container's ports; none is the first one. The selected value stays an option when its port is deleted. */
export function PortSelect({ value, onChange, ...select }: ControlProps<number | null>) {
  const { t } = useTranslation(['configuration', 'common'])
  const ports = usePorts()
  const choices = value === null || ports.includes(value) ? ports : [...ports, value]
  return (
    <SettingSelect
      {...select}
      value={getText(value)}
      disabled={choices.length === 0}
      onChange={(port) => onChange(port === '' ? null : Number(port))}
      options={[
        { value: '', label: t('routing.firstPort') },
        ...choices.map((port) => ({ value: String(port), label: String(port) })),
      ]}
    />
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
  const rowError = own.map((_, index) => form.getError(`${field}[${index}].key`)).find(Boolean)
  return (
    <Setting
      label={t(`field.${field}`)}
      origin={<SettingReset field={field} label={t(`field.${field}`)} />}
      error={form.getError(field) ?? rowError}
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
