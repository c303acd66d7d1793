import type { ContainerConfigField } from '@crux/contract'
import { RotateCcw } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { IconButton } from '../../components/Button.tsx'
import { Pill } from '../../components/Tag.tsx'
import { settingOf, useConfigForm } from './config-context.ts'

/** Where a value comes from. An image's own page has one layer and needs no word for it. */
export function OriginPill({ own }: { own: boolean }) {
  const { t } = useTranslation(['configuration', 'common'])
  const { kind } = useConfigForm()
  if (kind === 'image') return null
  return <Pill tone={own ? 'accent' : 'plain'}>{t(own ? 'origin.instance' : 'origin.image')}</Pill>
}

/** Origin of a whole setting, and the way back to what the image says. */
export function SettingOrigin({ field, label }: { field: ContainerConfigField; label: string }) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { value, own } = settingOf(form, field)
  if (value === null || value === undefined) return null
  return (
    <span className="inline-flex items-center gap-1">
      <OriginPill own={own} />
      {own && !form.readOnly && (
        <IconButton
          icon={RotateCcw}
          size="sm"
          label={t(form.kind === 'instance' ? 'reset.toImage' : 'reset.clear', { setting: label })}
          onClick={() => form.reset(field)}
        />
      )}
    </span>
  )
}
