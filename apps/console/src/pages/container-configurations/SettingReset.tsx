import type { ContainerConfigField } from '@crux/contract'
import { RotateCcw } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { IconButton } from '../../components/Button.tsx'
import { useConfigForm } from './config-context.ts'

/** Takes everything of this layer out of a list, so that the image's shows through. Only where there is something. */
export function SettingReset({ field, label }: { field: ContainerConfigField; label: string }) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const own = form.own[field]
  if (own === null || own === undefined || (Array.isArray(own) && own.length === 0) || form.readOnly) return null
  return (
    <IconButton
      icon={RotateCcw}
      size="sm"
      label={t(form.kind === 'instance' ? 'reset.toImage' : 'reset.clear', { setting: label })}
      onClick={() => form.reset(field)}
    />
  )
}
