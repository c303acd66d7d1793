import { parseEnvFile } from '@crux/config-editor'
import { useTranslation } from 'react-i18next'
import { cx } from '../../../components/class-names.ts'
import { TextArea } from '../../../components/Field.tsx'

type Props = {
  label: string
  value: string
  shown: boolean
  disabled: boolean
  placeholder?: string | undefined
  error?: string | undefined
  autoFocus?: boolean
  onChange: (value: string) => void
  onPaste: (text: string) => boolean
  className?: string
}

/**
 * A typed secret value. A password field has only one line, and browsers offer to store it. There is no presence, so that
 * other users do not see where a secret is typed.
 */
export function SecretInput({
  label,
  value,
  shown,
  disabled,
  placeholder,
  error,
  autoFocus,
  onChange,
  onPaste,
  className,
}: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  return (
    <TextArea
      mono
      aria-label={label}
      aria-invalid={error ? true : undefined}
      title={error}
      rows={Math.min(6, value.split('\n').length)}
      value={value}
      placeholder={placeholder ?? t('secrets.type')}
      disabled={disabled}
      autoFocus={autoFocus}
      autoComplete="off"
      autoCorrect="off"
      autoCapitalize="off"
      spellCheck={false}
      data-1p-ignore
      data-lpignore="true"
      className={cx('min-h-[30px] resize-none!', !shown && value !== '' && '[-webkit-text-security:disc]', className)}
      onChange={(event) => onChange(event.target.value)}
      onPaste={(event) => {
        const text = event.clipboardData.getData('text/plain')
        // All lines have a key, unlike those of a certificate.
        if (parseEnvFile(text).pairs.length > 1 && onPaste(text)) event.preventDefault()
      }}
    />
  )
}
