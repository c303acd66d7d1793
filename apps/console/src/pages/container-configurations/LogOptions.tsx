import { X } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button, IconButton } from '../../components/Button.tsx'
import { useConfigForm } from './config-context.ts'
import { newId } from './new-id.ts'
import { SettingInput } from './SettingInput.tsx'

type Option = { id?: string; key: string; value: string }

/** Options of the log driver, such as max-size. They belong to the driver and have no layers of their own. */
export function LogOptions({
  options,
  onChange,
}: {
  options: readonly Option[]
  onChange: (options: Option[]) => void
}) {
  const { t } = useTranslation(['configuration', 'common'])
  const { errorOf, readOnly } = useConfigForm()
  const change = (index: number, part: Partial<Option>) =>
    onChange(options.map((option, at) => (at === index ? { ...option, ...part } : option)))
  return (
    <div className="grid gap-1.5">
      {options.map((option, index) => (
        <div key={option.id ?? index} className="flex items-center gap-1">
          <SettingInput
            className="flex-1"
            inputId={`logConfig.${option.id ?? index}.key`}
            label={t('column.key')}
            placeholder="max-size"
            value={option.key}
            error={errorOf(`logConfig.options[${index}].key`)}
            onChange={(key) => change(index, { key })}
          />
          <SettingInput
            className="flex-1"
            inputId={`logConfig.${option.id ?? index}.value`}
            label={t('valueOf', { key: option.key })}
            placeholder="10m"
            value={option.value}
            error={errorOf(`logConfig.options[${index}].value`)}
            onChange={(value) => change(index, { value })}
          />
          <IconButton
            icon={X}
            size="sm"
            label={t('removeRow', { key: option.key })}
            disabledReason={readOnly}
            onClick={() => onChange(options.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <span>
        <Button
          size="sm"
          disabledReason={readOnly}
          onClick={() => onChange([...options, { id: newId(), key: '', value: '' }])}
        >
          {t('log.addOption')}
        </Button>
      </span>
    </div>
  )
}
