import type { ContainerConfigField } from '@crux/contract'
import type { ReactNode } from 'react'
import { settingOf, useConfigForm } from '../form/config-context.ts'
import { Setting } from '../form/Section.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { SettingSwitch } from './SettingControls.tsx'

type Parts = { [name: string]: unknown }
type Props = {
  /** A setting that is an object. */
  field: ContainerConfigField
  /** Which part of it: `command`, `limits.cpu`. */
  part: string
  label: string
  help?: ReactNode
  placeholder?: string
  numeric?: boolean
  wide?: boolean
  disabled?: boolean
  origin?: ReactNode
  suggestions?: readonly string[]
}

/** One text or number inside a setting that is an object. When the last part is emptied, the layer no longer has the setting. */
export function PartInput({
  field,
  part,
  label,
  help,
  placeholder,
  numeric,
  wide,
  disabled,
  origin,
  suggestions,
}: Props) {
  const form = useConfigForm()
  const value = partOf(settingOf(form, field).value, part)
  const error = form.errorOf(`${field}.${part}`)
  const change = useChangePart(field)
  return (
    <Setting label={label} error={error} help={help} wide={wide} origin={origin}>
      <SettingInput
        inputId={`${field}.${part}`}
        label={label}
        numeric={numeric}
        placeholder={placeholder}
        disabled={disabled}
        suggestions={suggestions}
        value={value === null || value === undefined || Number.isNaN(value) ? '' : String(value)}
        error={error}
        onChange={(text) => change(part, text === '' ? null : numeric ? Number(text) : text)}
      />
    </Setting>
  )
}

export function PartSwitch({ field, part, label, help }: Pick<Props, 'field' | 'part' | 'label' | 'help'>) {
  const form = useConfigForm()
  const change = useChangePart(field)
  return (
    <Setting label={label} error={form.errorOf(`${field}.${part}`)} help={help}>
      <SettingSwitch
        inputId={`${field}.${part}`}
        label={label}
        value={partOf(settingOf(form, field).value, part) === true}
        onChange={(on) => change(part, on)}
      />
    </Setting>
  )
}

/** Changes parts of a setting; a part of an inherited one is changed in an own copy of it. */
export function useChangePart(field: ContainerConfigField) {
  const form = useConfigForm()
  return (part: string, value: unknown) => {
    const next = withPart((settingOf(form, field).value ?? {}) as Parts, part.split('.'), value)
    form.edit(field, isEmpty(next) ? null : next)
  }
}

export function partOf(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, name) => (inner as Parts | null | undefined)?.[name], value)
}

function withPart(value: Parts, [name = '', ...rest]: string[], part: unknown): Parts {
  return { ...value, [name]: rest.length > 0 ? withPart((value[name] ?? {}) as Parts, rest, part) : part }
}

/** A switch that is off does not count as set if all texts are empty. */
const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  value === false ||
  (typeof value === 'object' && Object.entries(value).every(([name, inner]) => name === 'id' || isEmpty(inner)))
