import { X } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { IconButton } from '../../../components/Button.tsx'
import { useConfigForm } from '../form/config-context.ts'

/** Takes a row out of a list. */
export function RemoveRow({ name, onRemove }: { name: string; onRemove: () => void }) {
  const { t } = useTranslation('configuration')
  const { readOnly } = useConfigForm()
  return (
    <IconButton icon={X} size="sm" label={t('removeRow', { key: name })} disabledReason={readOnly} onClick={onRemove} />
  )
}
