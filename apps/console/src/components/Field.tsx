import { CircleX, Eye, EyeOff } from 'lucide-react'
import {
  createContext,
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useContext,
  useId,
  useState,
} from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from './class-names.ts'

type FieldState = { id: string; describedBy?: string; invalid: boolean }
const FieldContext = createContext<FieldState | null>(null)

type FieldProps = {
  label: ReactNode
  /** Shown below; an error takes its place. */
  help?: ReactNode
  error?: string | null
  /** Right of the label: a link, a counter. */
  trailing?: ReactNode
  optional?: boolean
  /** For groups such as chips: names the group instead of pointing a label at one input. */
  group?: boolean
  children: ReactNode
}

/** Label above, help below, error in its place; the input inside picks up id, description and validity. */
export function Field({ label, help, error, trailing, optional, group, children }: FieldProps) {
  const { t } = useTranslation()
  const id = useId()
  const noteId = `${id}-note`
  const describedBy = error || help ? noteId : undefined
  const Label = group ? 'span' : 'label'
  return (
    <div
      {...(group ? { role: 'group', 'aria-labelledby': `${id}-label` } : {})}
      className="grid grid-cols-1 content-start gap-[5px]"
    >
      <div className="flex items-baseline gap-2">
        <Label id={`${id}-label`} {...(group ? {} : { htmlFor: id })} className="font-strong">
          {label}
        </Label>
        {optional && <span className="text-small text-ink-3">{t('form.optional')}</span>}
        {trailing && <span className="ml-auto">{trailing}</span>}
      </div>
      <FieldContext value={{ id, describedBy, invalid: Boolean(error) }}>{children}</FieldContext>
      {error ? (
        <FieldError id={noteId}>{error}</FieldError>
      ) : (
        help && (
          <p id={noteId} className="text-small text-ink-2">
            {help}
          </p>
        )
      )}
    </div>
  )
}

export function FieldError({ id, children }: { id?: string; children: ReactNode }) {
  return (
    <p id={id} className="flex items-start gap-1.5 text-small text-failed">
      <CircleX aria-hidden className="mt-px size-3.5!" />
      <span>{children}</span>
    </p>
  )
}

/** The surrounding Field's id, description and validity, for controls that are built elsewhere. */
export function useField() {
  const field = useContext(FieldContext)
  return field
    ? { id: field.id, 'aria-describedby': field.describedBy, 'aria-invalid': field.invalid || undefined }
    : {}
}

const inputStyle =
  'w-full min-w-0 rounded-md border border-line-strong bg-surface px-[9px] text-ink aria-invalid:border-failed disabled:bg-sunken disabled:text-ink-2'

type InputProps = InputHTMLAttributes<HTMLInputElement> & {
  mono?: boolean
  tall?: boolean
  ref?: Ref<HTMLInputElement>
}

export function TextInput({ mono, tall, className, ...rest }: InputProps) {
  return (
    <input
      type="text"
      spellCheck={false}
      {...useField()}
      {...rest}
      className={cx(inputStyle, 'read-only:bg-sunken', tall ? 'h-9' : 'h-[30px]', mono && 'mono', className)}
    />
  )
}

export function PasswordInput({ className, ...rest }: InputProps) {
  const { t } = useTranslation()
  const [shown, setShown] = useState(false)
  const Icon = shown ? EyeOff : Eye
  return (
    <div className="relative">
      <TextInput {...rest} type={shown ? 'text' : 'password'} className={cx('pr-9', className)} />
      <button
        type="button"
        aria-label={shown ? t('form.hidePassword') : t('form.showPassword')}
        aria-pressed={shown}
        onClick={() => setShown(!shown)}
        className="absolute inset-y-0 right-0 grid w-9 place-items-center rounded-md text-ink-3 hover:text-ink"
      >
        <Icon aria-hidden />
      </button>
    </div>
  )
}

type AreaProps = TextareaHTMLAttributes<HTMLTextAreaElement> & { mono?: boolean; ref?: Ref<HTMLTextAreaElement> }

export function TextArea({ mono, className, rows = 3, ...rest }: AreaProps) {
  return (
    <textarea
      rows={rows}
      {...useField()}
      {...rest}
      className={cx(inputStyle, 'read-only:bg-sunken', 'resize-y py-[5px]', mono && 'mono', className)}
    />
  )
}

export type SelectOption = { value: string | number; label: string }
type SelectProps = Omit<SelectHTMLAttributes<HTMLSelectElement>, 'children'> & {
  options: readonly SelectOption[]
  /** The first option, whose value is empty. */
  none?: string | undefined
  ref?: Ref<HTMLSelectElement>
}

/** The platform's own select: it works with a keyboard, a screen reader and a thumb. */
export function Select({ className, options, none, ...rest }: SelectProps) {
  return (
    <select {...useField()} {...rest} className={cx(inputStyle, 'h-[30px] pr-7', className)}>
      {none !== undefined && <option value="">{none}</option>}
      {options.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}
