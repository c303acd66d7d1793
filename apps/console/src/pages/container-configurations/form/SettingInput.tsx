import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { Avatar } from '../../../components/Avatar.tsx'
import { cx } from '../../../components/class-names.ts'
import { TextInput } from '../../../components/Field.tsx'
import { useConfigForm } from './config-context.ts'
import { useFocusMark } from './use-focus-mark.ts'

type Props = {
  /** Which input of the page it is, for presence: `environment.LOG_LEVEL`. */
  inputId: string
  label: string
  value: string
  onChange: (value: string) => void
  error?: string
  placeholder?: string
  mono?: boolean
  numeric?: boolean
  disabled?: boolean
  className?: string
  onEnter?: () => void
  onPasteLines?: (text: string) => boolean
  /** For what names a row: taken over when the input is left, so that a half-typed name never meets another row. */
  lazy?: boolean
  /** Suggestions; any other text can be typed too. */
  suggestions?: readonly string[]
}

/**
 * A text of the configuration. From the first key until blur, its own text takes precedence over incoming changes: an input that
 * only has the focus shows incoming changes, and blur without typing changes nothing. An outline in another editor's colour shows that they are in it.
 */
export function SettingInput({
  inputId,
  label,
  value,
  onChange,
  error,
  placeholder,
  mono = true,
  numeric,
  disabled,
  className,
  onEnter,
  onPasteLines,
  lazy,
  suggestions,
}: Props) {
  const { readOnly } = useConfigForm()
  const { other, enter, leave } = useFocusMark(inputId)
  const [text, setText] = useState<string | null>(null)
  const listId = useId()
  const shown = text ?? value
  // A lazy text that is typed and not handed over yet.
  const kept = lazy && text !== null && text !== value ? text : null
  const latest = useRef({ kept, onChange })
  latest.current = { kept, onChange }

  // A row that another user deletes while its name is typed is created again with that name.
  useEffect(
    () => () => {
      if (latest.current.kept !== null) latest.current.onChange(latest.current.kept)
    },
    [],
  )

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && onEnter) {
      event.preventDefault()
      if (kept !== null) onChange(kept)
      onEnter()
    }
  }
  return (
    <span data-input={inputId} className={cx('relative block min-w-0', className)}>
      <TextInput
        aria-label={label}
        aria-invalid={error ? true : undefined}
        title={error}
        mono={mono}
        inputMode={numeric ? 'numeric' : undefined}
        placeholder={placeholder}
        disabled={disabled}
        readOnly={readOnly !== null}
        value={shown}
        style={other ? { outline: `2px solid ${other.color}`, outlineOffset: 0 } : undefined}
        className={other && 'pr-8'}
        list={suggestions && suggestions.length > 0 ? listId : undefined}
        onFocus={enter}
        onBlur={() => {
          if (kept !== null) onChange(kept)
          leave()
          setText(null)
        }}
        onChange={(event) => {
          const next = numeric ? event.target.value.replace(/[^\d-]/g, '') : event.target.value
          setText(next)
          if (!lazy) onChange(next)
        }}
        onPaste={(event) => {
          if (onPasteLines?.(event.clipboardData.getData('text/plain'))) event.preventDefault()
        }}
        onKeyDown={onKeyDown}
      />
      {suggestions && suggestions.length > 0 && (
        <datalist id={listId}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
      {other && (
        <span className="pointer-events-none absolute top-[5px] right-1.5">
          <Avatar name={other.name} color={other.color} size="sm" />
        </span>
      )}
    </span>
  )
}
