import { GitMerge } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import { useConfigForm } from './config-context.ts'

/** Somebody else changed the same value: both are shown, and the person chooses. */
export function ConflictNotes({ field }: { field: string }) {
  const { conflicts } = useConfigForm()
  const found = Object.entries(conflicts).filter(([property]) => property === field || property.startsWith(`${field}.`))
  return found.map(([property, conflict]) => (
    <ConflictNote key={property} property={property} mine={conflict.mine} theirs={conflict.theirs} />
  ))
}

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
              <code className="break-all">{textOf(side === 'mine' ? mine : theirs) ?? t('conflict.removed')}</code>
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

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value !== 'object') return String(value)
  if ('value' in value && 'key' in value) return value.value === null ? null : String(value.value)
  return JSON.stringify(value, (name, inner) => (name === 'id' ? undefined : inner))
}
