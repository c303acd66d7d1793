import type { ContainerConfigField } from '@crux/contract'
import { isRecord, toRecord, valueAt } from '@crux/rules'
import type { ParseKeys } from 'i18next'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { getSetting, useConfigForm } from '../form/config-context.ts'
import { SettingOrigin } from '../form/Origin.tsx'
import { Setting } from '../form/Section.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { ListRows } from '../rows/ListRows.tsx'
import { getText, PortSelect, SettingChips, SettingSwitch, usePorts } from './SettingControls.tsx'

type TextKey = ParseKeys<'configuration'>
type Choice = { value: string; label: TextKey; help?: TextKey; disabled?: boolean }

/** A setting with one control, as the tables of the sections describe it. */
export type SettingSpec = {
  field: ContainerConfigField
  /** Which part of a setting that is an object: `command`, `limits.cpu`. */
  part?: string
  label: TextKey
  help?: TextKey
  placeholder?: string
  /** A placeholder that is translated. */
  placeholderKey?: TextKey
  /** A text unless it is named. `list`: one text per line, in place of the list of the layers below. */
  control?: 'number' | 'switch' | 'port' | 'list'
  /** A choice between these values; `fallback` is the one that applies when no layer sets any. */
  options?: readonly Choice[]
  fallback?: string
  suggestions?: readonly string[]
  /** The value of an empty input, if it is not null. */
  emptyValue?: number
  /** How a typed text is stored. */
  normalize?: (text: string) => string
  /**
   * The label of the setting whose origin is shown here. A part shows none, because its section does; false where the section shows that of a
   * whole setting too.
   */
  origin?: TextKey | false
}

export const SettingFields = ({ settings }: { settings: readonly SettingSpec[] }) =>
  settings.map((setting) => <SettingField key={`${setting.field}.${setting.part}`} {...setting} />)

type Props = SettingSpec & { note?: ReactNode; wide?: boolean; disabled?: boolean }

/** A setting with its label, origin, control, and its help or error. `note` is shown in place of the help. */
export function SettingField({ field, part, label, help, note, origin, wide, ...control }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const originLabel = origin ?? (part === undefined && label)
  const value = valueAt(getSetting(form, field).value, part?.split('.') ?? [])
  const chosen = control.options?.find((option) => option.value === (value ?? control.fallback))
  const hint = chosen?.help ?? help
  const hasPorts = usePorts().length > 0 || control.control !== 'port'
  return (
    <Setting
      label={t(label)}
      origin={originLabel && <SettingOrigin field={field} label={t(originLabel)} />}
      error={form.getError(toPath(field, part))}
      help={note ?? (hasPorts ? hint && t(hint) : t('routing.noPorts'))}
      wide={wide}
    >
      <Control field={field} part={part} label={t(label)} {...control} />
    </Setting>
  )
}

const toPath = (field: ContainerConfigField, part: string | undefined) =>
  part === undefined ? field : `${field}.${part}`

function Control({
  field,
  part,
  label,
  placeholder,
  placeholderKey,
  control,
  options,
  fallback,
  suggestions,
  emptyValue,
  normalize = (text) => text,
  disabled,
}: Omit<Props, 'label' | 'origin' | 'help' | 'note'> & { label: string }) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value: whole, own } = getSetting(form, field)
  const value = valueAt(whole, part?.split('.') ?? [])
  const onChange = useChangePart(field, part)
  const inputId = toPath(field, part)
  const shared = { inputId, label, onChange }
  if (control === 'switch') return <SettingSwitch {...shared} value={value === true} />
  if (control === 'port') return <PortSelect {...shared} value={typeof value === 'number' ? value : null} />
  if (control === 'list' && (field === 'commands' || field === 'args'))
    return (
      <ListRows
        field={field}
        label={label}
        addLabel={t('addWord')}
        rows={getSetting(form, field).value ?? []}
        own={own}
        ordered
        onChange={onChange}
      />
    )
  if (options)
    return (
      <SettingChips
        {...shared}
        value={getText(value ?? fallback)}
        options={options.map((option) => ({ ...option, label: t(option.label) }))}
      />
    )
  return (
    <SettingInput
      {...shared}
      numeric={control === 'number'}
      placeholder={placeholderKey ? t(placeholderKey) : placeholder}
      disabled={disabled}
      suggestions={suggestions}
      value={value === emptyValue ? '' : getText(value)}
      error={form.getError(inputId)}
      onChange={(text) =>
        onChange(text === '' ? (emptyValue ?? null) : control === 'number' ? Number(text) : normalize(text))
      }
    />
  )
}

/**
 * Changes a setting or a part of it; a part of an inherited one is changed in an own copy of it. When the last part is emptied, the layer no longer
 * has the setting. Routing is an exception: without a value it still replaces the routing of the layers below.
 */
export function useChangePart(field: ContainerConfigField, part: string | undefined) {
  const form = useConfigForm()
  return (value: unknown) => {
    if (part === undefined) return form.edit(field, value)
    const next = withPart(getSetting(form, field).value, part.split('.'), value)
    form.edit(field, field !== 'routing' && isEmpty(next) ? null : next)
  }
}

function withPart(value: unknown, [name = '', ...rest]: string[], part: unknown): Record<string, unknown> {
  const known = toRecord(value)
  return { ...known, [name]: rest.length > 0 ? withPart(known[name], rest, part) : part }
}

/** A switch that is off does not count as set if all texts are empty. */
const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  value === false ||
  (Array.isArray(value) && value.every(isEmpty)) ||
  (isRecord(value) && Object.entries(value).every(([name, inner]) => name === 'id' || isEmpty(inner)))
