import { type FieldTarget, fieldOf, findFieldTarget } from '@crux/config-editor'
import { mergeConfig } from '@crux/rules'
import { useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { ListFilter, SlidersHorizontal } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../../components/Button.tsx'
import { Chips } from '../../../components/Chips.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { Menu, MenuCheck, MenuLabel } from '../../../components/Menu.tsx'
import { SearchBox } from '../../../components/SearchBox.tsx'
import { isTyping, useKey } from '../../../components/use-key.ts'
import { useConfigForm } from '../form/config-context.ts'
import { BegunProvider, type BegunSection, HideProvider, TargetProvider } from '../form/Section.tsx'
import {
  countIn,
  everydaySections,
  type FieldFilter,
  fieldsFor,
  fieldsIn,
  groupOf,
  type SectionId,
  sectionIds,
} from '../form/sections.ts'
import { VisibleSection } from '../sections/VisibleSection.tsx'
import { goToField } from './go-to-field.ts'
import { SectionNav } from './SectionNav.tsx'
import { useCurrentSection } from './use-current-section.ts'
import { useVisibleSections } from './use-visible-sections.ts'

type Props = {
  /** The number of problems of a field. */
  errorsIn: (field: string) => number
  defaultName: string
  prefix: string | undefined
  trailing: ReactNode
}

/** All settings as a form, with the way to each of them. */
export function SettingsForm({ errorsIn, defaultName, prefix, trailing }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const [text, setText] = useState('')
  const [wanted, setWanted] = useState<{ id: SectionId; target?: FieldTarget } | null>(null)
  const [begun, setBegun] = useState<BegunSection | null>(null)
  const navigate = useNavigate()
  const { fields: filter } = useSearch({ from: '/app/$teamSlug/container-configurations/$configId' })
  const setFilter = (fields: FieldFilter | undefined) =>
    void navigate({ to: '.', search: (before) => ({ ...before, fields }), replace: true })
  const nav = useRef<HTMLElement>(null)
  const current = useCurrentSection()
  const ambiguous = new Set<string>(form.ambiguities.map((ambiguity) => ambiguity.field))
  const errorsOf = (id: SectionId) =>
    fieldsIn(id).reduce((count, field) => count + errorsIn(field) + (ambiguous.has(field) ? 1 : 0), 0)
  const hasError = (id: SectionId) => errorsOf(id) > 0
  const sections = useVisibleSections(hasError, filter)
  const fits = (id: SectionId) =>
    `${t(`section.${id}`)} ${t(`keywords.${id}`)} ${fieldsFor(id, filter).join(' ')}`
      .toLowerCase()
      .includes(text.trim().toLowerCase())
  // A search shows matching settings in each group.
  const found = sections.offered.filter(fits)
  const shown = text.trim() === '' ? sections.shown : found
  const choose = (id: SectionId, target?: FieldTarget) => {
    sections.show(id)
    setWanted({ id, target })
  }
  const begin = (id: SectionId) => {
    const isNew = !sections.shown.includes(id) && countIn(id, undefined, form.own, form.parent) === undefined
    choose(id)
    setBegun(isNew ? { id } : null)
  }

  useEffect(() => (wanted ? goToField(wanted.id, wanted.target) : undefined), [wanted])
  // A link may name the setting with the problem, and can be followed again.
  const linked = useLocation({ select: ({ hash, state }) => `${state.__TSR_key ?? ''}#${hash}` })
  const follow = (property: string) => {
    const field = fieldOf(property)
    const id = sectionIds.find((section) => fieldsIn(section).some((known) => known === field))
    if (!id) return
    setText('')
    if (filter && !fieldsFor(id, filter).some((known) => known === field)) setFilter(undefined)
    // Problems of an instance come from the merged configuration of all its layers.
    const merged = form.kind === 'instance'
    const counted = merged ? mergeConfig(form.below.fields, form.own) : form.own
    choose(id, property === field ? undefined : findFieldTarget(property, counted, merged))
  }
  const latest = useRef(follow)
  latest.current = follow
  useEffect(() => latest.current(decoded(linked.slice(linked.indexOf('#') + 1))), [linked])
  useKey((event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return false
    nav.current?.querySelector('input')?.focus()
    return true
  })

  return (
    <div
      className={
        trailing
          ? 'grid gap-4 min-[768px]:grid-cols-[176px_minmax(0,1fr)] min-[1200px]:grid-cols-[176px_minmax(0,1fr)_268px]'
          : 'grid gap-4 min-[768px]:grid-cols-[176px_minmax(0,1fr)]'
      }
    >
      <SectionNav
        ref={nav}
        groups={sections.groups}
        entries={found.map((id) => ({
          id,
          group: filter && filter !== 'all' ? filter : groupOf(id),
          title: t(`section.${id}`),
          count: countIn(id, filter, form.own, form.parent),
          errors: errorsOf(id),
          lit: sections.shown.includes(id),
        }))}
        text={text}
        onText={setText}
        current={current}
        onChoose={begin}
      />
      <div className="grid min-w-0 content-start gap-4">
        <div className="flex flex-wrap items-center gap-2">
          <Chips
            label={t('filter.label')}
            value={filter ?? 'used'}
            onChange={(next) => setFilter(next === 'used' ? undefined : next)}
            options={(['used', 'all', ...sections.groups] as const).map((value) => ({
              value,
              label: value === 'used' ? t('filter.used') : value === 'all' ? t('common:all') : t(`group.${value}`),
            }))}
          />
          <SearchBox label={t('nav.find')} value={text} onChange={setText} className="min-w-36 flex-1 md:hidden" />
          {!filter && (
            <span className="md:hidden">
              <Menu
                trigger={<Button icon={ListFilter}>{t('filter.settings', { count: sections.shown.length })}</Button>}
              >
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
          )}
        </div>
        <HideProvider value={filter ? null : sections.hide}>
          <TargetProvider value={wanted?.target ?? null}>
            <BegunProvider value={begun}>
              {shown.map((id) => (
                <VisibleSection key={id} id={id} filter={filter} defaultName={defaultName} prefix={prefix} />
              ))}
            </BegunProvider>
          </TargetProvider>
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
                    <Button key={id} onClick={() => begin(id)}>
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
              action={
                <Button
                  onClick={() => {
                    setText('')
                    if (filter) setFilter(undefined)
                  }}
                >
                  {t('common:filter.reset')}
                </Button>
              }
            />
          ))}
      </div>
      {trailing && (
        <div className="min-w-0 min-[768px]:max-[1199px]:col-start-2 min-[1200px]:sticky min-[1200px]:top-[60px] min-[1200px]:max-h-[calc(100dvh-100px)] min-[1200px]:self-start min-[1200px]:overflow-y-auto">
          {trailing}
        </div>
      )}
    </div>
  )
}

/** As the address bar may write it: `volumes%5B0%5D.path`. */
function decoded(hash: string): string {
  try {
    return decodeURIComponent(hash)
  } catch {
    return hash
  }
}
