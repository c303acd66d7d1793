import type { ReactNode } from 'react'
import { type Control, Controller, type FieldValues, get, type Path, type UseFormReturn } from 'react-hook-form'
import { type Chip, Chips } from '../components/Chips.tsx'
import { Field, PasswordInput, Select, type SelectOption, TextArea, TextInput } from '../components/Field.tsx'
import { Switch } from '../components/Switch.tsx'
import { lazyComponent } from '../loading/lazy-component.tsx'
import { findErrorMessage } from './field-error.ts'

const IconPicker = lazyComponent(async () => (await import('../components/IconPicker.tsx')).IconPicker)

/** One component per kind of field, bound to a react-hook-form form by name. */
type Bound<V extends FieldValues, Out> = {
  // biome-ignore lint/suspicious/noExplicitAny: react-hook-form's context type parameter; nothing here reads it
  form: UseFormReturn<V, any, Out>
  name: Path<V>
  label: string
  help?: ReactNode
  optional?: boolean
  disabled?: boolean
}
type TextProps = {
  type?: 'text' | 'email' | 'number' | 'time' | 'datetime-local'
  mono?: boolean
  placeholder?: string
  autoComplete?: string
  inputMode?: 'numeric' | 'url'
  tall?: boolean
  trailing?: ReactNode
  /** Unlike `disabled` it is sent along. */
  readOnly?: boolean
  onInput?: () => void
}

export function TextField<V extends FieldValues, Out>(props: Bound<V, Out> & TextProps) {
  const [field, input] = getParts(props)
  return (
    <Field {...field}>
      <TextInput {...input} />
    </Field>
  )
}

export function PasswordField<V extends FieldValues, Out>(props: Bound<V, Out> & Omit<TextProps, 'type'>) {
  const [field, input] = getParts(props)
  return (
    <Field {...field}>
      <PasswordInput {...input} />
    </Field>
  )
}

export function TextAreaField<V extends FieldValues, Out>(props: Bound<V, Out> & { rows?: number }) {
  const [field, input] = getParts(props)
  return (
    <Field {...field}>
      <TextArea {...input} />
    </Field>
  )
}

type SelectProps = { options: readonly SelectOption[]; none?: string; onPick?: (value: string) => void }
export function SelectField<V extends FieldValues, Out>({ onPick, ...props }: Bound<V, Out> & SelectProps) {
  const [field, input] = getParts({ ...props, onInput: onPick && ((event) => onPick(event.target.value)) })
  return (
    <Field {...field}>
      <Select {...input} />
    </Field>
  )
}

export function ChipsField<V extends FieldValues, Out, T extends string>({
  form,
  name,
  label,
  help,
  optional,
  disabled,
  options,
  onPick,
}: Bound<V, Out> & { options: readonly Chip<T>[]; onPick?: (value: T) => void }) {
  return (
    <Field label={label} help={help} optional={optional} group error={getError(form, name)}>
      <Controller
        control={getControl(form)}
        name={name}
        render={({ field }) => (
          <div>
            <Chips
              label={label}
              size="md"
              value={field.value}
              disabled={disabled}
              options={options}
              onChange={(value) => {
                field.onChange(value)
                onPick?.(value)
              }}
            />
          </div>
        )}
      />
    </Field>
  )
}

export function SwitchField<V extends FieldValues, Out>({ form, name, label, help, disabled }: Bound<V, Out>) {
  const error = getError(form, name)
  return (
    <Controller
      control={getControl(form)}
      name={name}
      render={({ field }) => (
        <div className="grid gap-1">
          {/* biome-ignore lint/a11y/noLabelWithoutControl: the switch inside is a labelable button */}
          <label className="flex items-center gap-2">
            <Switch checked={Boolean(field.value)} onChange={field.onChange} disabled={disabled} />
            <span className="font-strong">{label}</span>
          </label>
          {(error || help) && (
            <p className={error ? 'text-small text-failed' : 'text-small text-ink-2'}>{error ?? help}</p>
          )}
        </div>
      )}
    />
  )
}

export function IconField<V extends FieldValues, Out>({ form, name, label, help }: Bound<V, Out>) {
  return (
    <Field label={label} help={help} optional group error={getError(form, name)}>
      <Controller
        control={getControl(form)}
        name={name}
        render={({ field }) => <IconPicker value={field.value ?? null} onChange={field.onChange} />}
      />
    </Field>
  )
}

type Registered = { trailing?: ReactNode; onInput?: (event: { target: { value: string } }) => void }

/** What belongs to the frame of a field (label, help, error), and what to its input, registered with the form. */
function getParts<V extends FieldValues, Out, P extends Bound<V, Out> & Registered>(props: P & Bound<V, Out>) {
  const { form, name, label, help, optional, trailing, onInput, ...rest } = props
  const frame = { label, help, optional, trailing, error: getError(form, name) }
  return [frame, { ...rest, ...form.register(name, onInput && { onChange: onInput }) }] as const
}

/** A Controller's type wants in- and output alike; it only ever touches the input side. */
// biome-ignore lint/suspicious/noExplicitAny: see Bound
const getControl = <V extends FieldValues, Out>(form: UseFormReturn<V, any, Out>) =>
  form.control as unknown as Control<V>

// biome-ignore lint/suspicious/noExplicitAny: see Bound
const getError = <V extends FieldValues, Out>(form: UseFormReturn<V, any, Out>, name: Path<V>): string | undefined =>
  findErrorMessage(get(form.formState.errors, name))
