import { Plus } from 'lucide-react'
import type { Ref } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from '../../../components/class-names.ts'
import { SearchBox } from '../../../components/SearchBox.tsx'
import type { Group, SectionId } from '../form/sections.ts'

export type NavEntry = { id: SectionId; group: Group; title: string; count?: number; errors: number; lit: boolean }
type Props = {
  entries: readonly NavEntry[]
  groups: readonly Group[]
  text: string
  onText: (text: string) => void
  current: SectionId | null
  onChoose: (id: SectionId) => void
  ref?: Ref<HTMLElement>
}

/** Every setting there is: those in the form with how many values each has, the others to be added to it. */
export function SectionNav({ entries, groups, text, onText, current, onChoose, ref }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  return (
    <nav
      ref={ref}
      aria-label={t('nav.label')}
      className="sticky top-[60px] z-1 hidden max-h-[calc(100dvh-100px)] self-start overflow-y-auto md:block"
    >
      <div className="sticky top-0 z-1 bg-canvas">
        <SearchBox label={t('nav.find')} value={text} onChange={onText} className="w-full" />
      </div>
      {groups.map((group) => {
        const found = entries.filter((entry) => entry.group === group)
        if (found.length === 0) return null
        return (
          <div key={group}>
            <h2 className="px-2 pt-3.5 pb-1 text-small font-medium text-ink-3">{t(`group.${group}`)}</h2>
            {found.map((entry) => (
              <button
                key={entry.id}
                type="button"
                aria-description={
                  entry.errors > 0
                    ? t('nav.error', { count: entry.errors })
                    : entry.count === undefined
                      ? undefined
                      : t('values.count', { count: entry.count })
                }
                aria-pressed={entry.lit}
                aria-current={current === entry.id ? 'true' : undefined}
                onClick={() => onChoose(entry.id)}
                className={cx(
                  'group/entry flex h-7 w-full items-center rounded-md px-2 text-left hover:text-ink',
                  current === entry.id
                    ? 'bg-accent-soft font-strong text-ink'
                    : entry.lit
                      ? 'text-ink'
                      : 'text-ink-3 hover:bg-hover',
                )}
              >
                <span className="truncate">{entry.title}</span>
                <Mark entry={entry} />
              </button>
            ))}
          </div>
        )
      })}
    </nav>
  )
}

function Mark({ entry }: { entry: NavEntry }) {
  if (entry.errors > 0)
    return (
      <span aria-hidden className="ml-auto text-small font-semibold text-failed tabular-nums">
        {entry.errors}
      </span>
    )
  if (!entry.lit)
    return (
      <Plus
        aria-hidden
        className="ml-auto size-3.5! opacity-0 group-hover/entry:opacity-100 group-focus-visible/entry:opacity-100"
      />
    )
  return entry.count === undefined ? null : (
    <span aria-hidden className="ml-auto text-small text-ink-3 tabular-nums">
      {entry.count}
    </span>
  )
}
