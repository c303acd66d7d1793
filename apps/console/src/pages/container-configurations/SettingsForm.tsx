import { useLocation } from '@tanstack/react-router'
import { ListFilter, SlidersHorizontal } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import { cx } from '../../components/class-names.ts'
import { EmptyState } from '../../components/EmptyState.tsx'
import { Menu, MenuCheck, MenuLabel } from '../../components/Menu.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { isTyping, useKey } from '../../components/use-key.ts'
import { useConfigForm } from './config-context.ts'
import { HideProvider } from './Section.tsx'
import { goToSection, SectionNav } from './SectionNav.tsx'
import { ShownSection } from './ShownSection.tsx'
import { countIn, everydaySections, fieldsIn, groupOf, type SectionId, sectionIds } from './sections.ts'
import { useCurrentSection } from './use-current-section.ts'
import { useShownSections } from './use-shown-sections.ts'

type Props = {
  fieldHasError: (field: string) => boolean
  defaultName: string
  prefix: string | undefined
  aside: ReactNode
}

/** All settings as a form, with the way to each of them. */
export function SettingsForm({ fieldHasError, defaultName, prefix, aside }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const [text, setText] = useState('')
  const [wanted, setWanted] = useState<SectionId | null>(null)
  const nav = useRef<HTMLElement>(null)
  const current = useCurrentSection()
  const ambiguous = new Set<string>(form.ambiguities.map((ambiguity) => ambiguity.field))
  const hasError = (id: SectionId) => fieldsIn(id).some((field) => fieldHasError(field) || ambiguous.has(field))
  const sections = useShownSections(hasError)
  const fits = (id: SectionId) =>
    `${t(`section.${id}`)} ${t(`keywords.${id}`)} ${fieldsIn(id).join(' ')}`
      .toLowerCase()
      .includes(text.trim().toLowerCase())
  // Who looks for a setting sees it, lit or not.
  const found = sections.offered.filter(fits)
  const shown = text.trim() === '' ? sections.shown : found
  const choose = (id: SectionId) => {
    sections.show(id)
    setWanted(id)
  }

  useEffect(() => {
    if (!wanted) return
    goToSection(wanted)
    setWanted(null)
  }, [wanted])
  // A link may name the setting that has to be mended.
  const linked = useLocation({ select: (location) => location.hash })
  const chooseLinked = useRef(choose)
  chooseLinked.current = choose
  useEffect(() => {
    const id = sectionIds.find((section) => fieldsIn(section).some((field) => field === linked))
    if (id) chooseLinked.current(id)
  }, [linked])
  useKey((event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return false
    nav.current?.querySelector('input')?.focus()
    return true
  })

  return (
    <div
      className={
        aside
          ? 'grid gap-4 min-[768px]:grid-cols-[176px_minmax(0,1fr)] min-[1200px]:grid-cols-[176px_minmax(0,1fr)_268px]'
          : 'grid gap-4 min-[768px]:grid-cols-[176px_minmax(0,1fr)]'
      }
    >
      <SectionNav
        ref={nav}
        groups={sections.groups}
        entries={found.map((id) => ({
          id,
          title: t(`section.${id}`),
          count: countIn(id, form.own, form.parent),
          error: hasError(id),
          lit: sections.shown.includes(id),
        }))}
        text={text}
        onText={setText}
        current={current}
        onChoose={choose}
      />
      <div className="grid min-w-0 content-start gap-4">
        <div className="flex flex-wrap items-center gap-2">
          {/* biome-ignore lint/a11y/useSemanticElements: a fieldset of four buttons would be read as a form */}
          <div role="group" aria-label={t('filter.label')} className="inline-flex flex-wrap gap-1">
            {(['all', ...sections.groups] as const).map((group) => (
              <button
                key={group}
                type="button"
                aria-pressed={sections.isLit(group)}
                onClick={() => sections.toggle(group)}
                className={cx(
                  'h-[26px] rounded-full border px-2.5 text-small',
                  sections.isLit(group)
                    ? 'border-transparent bg-accent-soft font-strong text-accent'
                    : 'border-line-strong text-ink-2 hover:bg-hover',
                )}
              >
                {group === 'all' ? t('common:all') : t(`group.${group}`)}
              </button>
            ))}
          </div>
          <SearchBox label={t('nav.find')} value={text} onChange={setText} className="min-w-36 flex-1 md:hidden" />
          <span className="md:hidden">
            <Menu trigger={<Button icon={ListFilter}>{t('filter.settings', { count: sections.shown.length })}</Button>}>
              {sections.groups.map((group) => (
                <div key={group}>
                  <MenuLabel>{t(`group.${group}`)}</MenuLabel>
                  {sections.offered
                    .filter((id) => groupOf(id) === group)
                    .map((id) => (
                      <MenuCheck
                        key={id}
                        checked={sections.shown.includes(id)}
                        onChange={(on) => (on ? sections.show(id) : sections.hide(id))}
                      >
                        {t(`section.${id}`)}
                      </MenuCheck>
                    ))}
                </div>
              ))}
            </Menu>
          </span>
        </div>
        <HideProvider value={sections.hide}>
          {shown.map((id) => (
            <ShownSection key={id} id={id} defaultName={defaultName} prefix={prefix} />
          ))}
        </HideProvider>
        {shown.length === 0 &&
          (text.trim() === '' ? (
            <EmptyState
              icon={SlidersHorizontal}
              title={t(sections.empty ? 'filter.empty' : 'filter.hidden')}
              text={t(form.readOnly ? 'filter.emptyReadOnly' : 'filter.emptyText')}
              action={
                <span className="flex flex-wrap gap-2">
                  {everydaySections.map((id) => (
                    <Button key={id} onClick={() => choose(id)}>
                      {t(`section.${id}`)}
                    </Button>
                  ))}
                </span>
              }
            />
          ) : (
            <EmptyState
              icon={SlidersHorizontal}
              title={t('filter.nothing')}
              text={t('filter.nothingText')}
              action={<Button onClick={() => setText('')}>{t('common:filter.reset')}</Button>}
            />
          ))}
      </div>
      {aside && (
        <aside className="min-w-0 min-[768px]:max-[1199px]:col-start-2 min-[1200px]:sticky min-[1200px]:top-16 min-[1200px]:self-start">
          {aside}
        </aside>
      )}
    </div>
  )
}
