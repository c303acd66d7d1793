import { getField } from '@crux/config-editor'
import type { BundleConflict } from '@crux/rules'
import { CircleX, GitMerge, Info, Split } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../../components/Button.tsx'
import { TextLink } from '../../../components/TextLink.tsx'
import { links } from '../../../routing/links.ts'
import { useConfigForm } from './config-context.ts'

/** Why a field is not saved: two users set different values, or config bundles conflict and the deployment has to decide. */
export function FieldNotes({ field }: { field: string }) {
  const { conflicts, ambiguities, notApplied, startProblems } = useConfigForm()
  const found = Object.entries(conflicts).filter(([property]) => property === field || property.startsWith(`${field}.`))
  return (
    <>
      {found.map(([property, conflict]) => (
        <ConflictNote key={property} property={property} mine={conflict.mine} theirs={conflict.theirs} />
      ))}
      {ambiguities
        .filter((ambiguity) => ambiguity.field === field)
        .map((ambiguity) => (
          <AmbiguityNote key={ambiguity.property} conflict={ambiguity} />
        ))}
      {startProblems
        .filter(({ property }) => getField(property) === field)
        .map(({ property, description }) => (
          <p
            key={`${property} ${description}`}
            role="note"
            className="flex items-start gap-2 border-b border-line px-3 py-2 text-failed tinted-failed"
          >
            <CircleX aria-hidden className="mt-0.5" />
            {description}
          </p>
        ))}
      {notApplied
        .filter(({ property }) => getField(property) === field)
        .map(({ property, description }) => (
          <p
            key={property}
            role="note"
            className="flex items-start gap-2 border-b border-line bg-sunken px-3 py-2 text-ink-2"
          >
            <Info aria-hidden className="mt-0.5 text-progress" />
            {description}
          </p>
        ))}
    </>
  )
}

/** Another user changed the same value: both values are shown, and the user chooses. */
function ConflictNote({ property, mine, theirs }: { property: string; mine: unknown; theirs: unknown }) {
  const { t } = useTranslation(['configuration', 'common'])
  const { resolve } = useConfigForm()
  return (
    <div role="alert" className="m-3 rounded-md border border-progress/50 p-2.5 tinted-progress">
      <p className="flex items-center gap-2 font-strong">
        <GitMerge aria-hidden className="text-progress" />
        {t('conflict.title', { property })}
      </p>
      <div className="mt-2 grid gap-2 sm:grid-cols-2">
        {(['mine', 'theirs'] as const).map((side) => (
          <div key={side} className="flex items-center gap-2 rounded-md border border-line bg-surface p-2">
            <span className="min-w-0 flex-1">
              <span className="block text-small text-ink-2">{t(`conflict.${side}`)}</span>
              <code className="break-all">{getText(side === 'mine' ? mine : theirs) ?? t('conflict.removed')}</code>
            </span>
            <Button size="sm" onClick={() => resolve(property, side)}>
              {t(`conflict.keep.${side}`)}
            </Button>
          </div>
        ))}
      </div>
    </div>
  )
}

/** Two config bundles conflict: nothing starts until the deployment sets the value. */
function AmbiguityNote({ conflict: { description, configIds } }: { conflict: BundleConflict }) {
  const { t } = useTranslation(['configuration', 'common'])
  const { below, kind, teamSlug } = useConfigForm()
  const bundles = below.layers.filter((layer) => configIds.includes(layer.configId))
  return (
    <div role="alert" className="m-3 flex items-start gap-2 rounded-md border border-failed/50 p-2.5 tinted-failed">
      <Split aria-hidden className="mt-0.5 text-failed" />
      <div className="min-w-0">
        <p className="font-strong break-words">{description}</p>
        <p className="text-small text-ink-2">
          {t(kind === 'deployment' ? 'ambiguity.here' : 'ambiguity.deployment')}{' '}
          {bundles.map((bundle, index) => (
            <span key={bundle.configId}>
              {index > 0 && ', '}
              <TextLink inline {...links.containerConfiguration(teamSlug, bundle.configId)}>
                {bundle.name}
              </TextLink>
            </span>
          ))}
        </p>
      </div>
    </div>
  )
}

function getText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value !== 'object') return String(value)
  if ('value' in value && 'key' in value) return value.value === null ? null : String(value.value)
  return JSON.stringify(value, (name, inner) => (name === 'id' ? undefined : inner))
}
