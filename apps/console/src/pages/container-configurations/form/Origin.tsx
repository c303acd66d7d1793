import type { Layer } from '@crux/config-editor'
import type { ContainerConfigField } from '@crux/contract'
import { Link } from '@tanstack/react-router'
import { RotateCcw } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { IconButton } from '../../../components/Button.tsx'
import { Pill } from '../../../components/Tag.tsx'
import { links } from '../../../routing/links.ts'
import { type ConfigForm, getSetting, useConfigForm } from './config-context.ts'

type Translate = ReturnType<typeof useTranslation<['configuration', 'common']>>['t']

/** The name of a layer: "image", "bundle region-eu", "this deployment". */
export const layerLabels = (t: Translate, { source, name }: Pick<Layer, 'source' | 'name'>): string =>
  t(`origin.${source}`, { name })

const ownLayerLabel = (t: Translate, kind: ConfigForm['kind']): string =>
  t(kind === 'instance' ? 'origin.instance' : 'origin.deployment')

/** The origin of a value with a link to it. A base layer has no lower layer, so it shows none. */
export function OriginPill({ own, part }: { own: boolean; part: string }) {
  const { t } = useTranslation(['configuration', 'common'])
  const { kind, parent, below, teamSlug } = useConfigForm()
  if (!parent) return null
  if (own) return <Pill tone="accent">{ownLayerLabel(t, kind)}</Pill>
  const layer = below.getOrigin(part)
  if (!layer) return null
  return (
    <Link
      {...links.containerConfiguration(teamSlug, layer.configId)}
      title={layer.name}
      className="inline-flex max-w-44 min-w-0 rounded-full hover:underline"
    >
      <Pill tone={layer.source === 'config-bundle' ? 'past' : 'plain'}>
        <span className="truncate">{layerLabels(t, layer)}</span>
      </Pill>
    </Link>
  )
}

/** Origin of a whole setting, and the way back to what the layers below say. */
export function SettingOrigin({ field, label }: { field: ContainerConfigField; label: string }) {
  const form = useConfigForm()
  const { value, own } = getSetting(form, field)
  if (value === null || value === undefined) return null
  return (
    <span className="inline-flex items-center gap-1">
      <OriginPill own={own} part={field} />
      {own && <SettingReset field={field} label={label} />}
    </span>
  )
}

/** Clears a setting in this layer, so that the inherited value applies. Shown only if this layer sets it. */
export function SettingReset({ field, label }: { field: ContainerConfigField; label: string }) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const own = form.own[field]
  if (own === null || own === undefined || (Array.isArray(own) && own.length === 0) || form.readOnly) return null
  return (
    <IconButton
      icon={RotateCcw}
      size="sm"
      label={t(form.parent ? 'reset.toBelow' : 'reset.clear', { setting: label })}
      onClick={() => form.reset(field)}
    />
  )
}
