import { useTranslation } from 'react-i18next'
import { cx } from '../../components/class-names.ts'
import { SearchBox } from '../../components/SearchBox.tsx'
import { type Group, type SectionId, sectionGroups } from './sections.ts'

export type NavEntry = { id: SectionId; title: string; count?: number; error: boolean }
type Props = { entries: readonly NavEntry[]; text: string; onText: (text: string) => void; current: SectionId | null }

const groups: readonly Group[] = ['common', 'docker', 'kubernetes']

/** The parts of the form beside it, with how many values each has and whether something is wrong there. */
export function SectionNav({ entries, text, onText, current }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  return (
    <nav
      aria-label={t('nav.label')}
      className="sticky top-16 hidden max-h-[calc(100dvh-80px)] self-start overflow-y-auto md:block"
    >
      <SearchBox label={t('nav.find')} value={text} onChange={onText} className="w-full" />
      {groups.map((group) => {
        const found = entries.filter((entry) => sectionGroups[entry.id] === group)
        if (found.length === 0) return null
        return (
          <div key={group}>
            <h2 className="px-2 pt-3.5 pb-1 text-small font-medium text-ink-3">{t(`group.${group}`)}</h2>
            {found.map((entry) => (
              <a
                key={entry.id}
                href={`#section-${entry.id}`}
                aria-current={current === entry.id ? 'true' : undefined}
                onClick={(event) => {
                  event.preventDefault()
                  goToSection(entry.id)
                }}
                className={cx(
                  'flex h-7 items-center rounded-md px-2 hover:text-ink',
                  current === entry.id ? 'bg-accent-soft font-strong text-ink' : 'text-ink-2',
                )}
              >
                <span className="truncate">{entry.title}</span>
                {(entry.error || entry.count !== undefined) && (
                  <span
                    className={cx(
                      'ml-auto text-small tabular-nums',
                      entry.error ? 'font-semibold text-failed' : 'text-ink-3',
                    )}
                  >
                    {entry.error ? (
                      <>
                        <span aria-hidden>!</span>
                        <span className="sr-only">{t('nav.error')}</span>
                      </>
                    ) : (
                      entry.count
                    )}
                  </span>
                )}
              </a>
            ))}
          </div>
        )
      })}
    </nav>
  )
}

/** Scrolls to a section and puts the focus on its first control, without touching the address. */
export function goToSection(id: SectionId): void {
  const section = document.getElementById(`section-${id}`)
  section?.scrollIntoView({
    block: 'start',
    behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth',
  })
  section
    ?.querySelector<HTMLElement>('input, select, [role="radio"], [role="switch"], button')
    ?.focus({ preventScroll: true })
}
