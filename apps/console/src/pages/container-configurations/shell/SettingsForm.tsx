import type { FieldTarget } from '@crux/config-editor'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { isTyping, useKey } from '../../../components/use-key.ts'
import { useConfigForm } from '../form/config-context.ts'
import { BegunProvider, HideProvider, type OpenedSection, TargetProvider } from '../form/Section.tsx'
import { countIn, type FieldFilter, fieldsFor, fieldsIn, getGroup, type SectionId } from '../form/sections.ts'
import { VisibleSection } from '../sections/VisibleSection.tsx'
import { goToField } from './go-to-field.ts'
import { NoSections } from './NoSections.tsx'
import { SectionNav } from './SectionNav.tsx'
import { SettingsFilter } from './SettingsFilter.tsx'
import { useCurrentSection } from './use-current-section.ts'
import { useLinkedField } from './use-linked-field.ts'
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
  const [begun, setBegun] = useState<OpenedSection | null>(null)
  const navigate = useNavigate()
  const { fields: filter } = useSearch({ from: '/app/$teamSlug/container-configurations/$configId' })
  const setFilter = (fields: FieldFilter | undefined) =>
    void navigate({ to: '.', search: (before) => ({ ...before, fields }), replace: true })
  const nav = useRef<HTMLElement>(null)
  const current = useCurrentSection()
  const ambiguous = new Set<string>(form.ambiguities.map((ambiguity) => ambiguity.field))
  const listErrors = (id: SectionId) =>
    fieldsIn(id).reduce((count, field) => count + errorsIn(field) + (ambiguous.has(field) ? 1 : 0), 0)
  const hasError = (id: SectionId) => listErrors(id) > 0
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
  useLinkedField((field, id, target) => {
    setText('')
    if (filter && !fieldsFor(id, filter).some((known) => known === field)) setFilter(undefined)
    choose(id, target)
  })
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
          group: filter && filter !== 'all' ? filter : getGroup(id),
          title: t(`section.${id}`),
          count: countIn(id, filter, form.own, form.parent),
          errors: listErrors(id),
          lit: sections.shown.includes(id),
        }))}
        text={text}
        onText={setText}
        current={current}
        onChoose={begin}
      />
      <div className="grid min-w-0 content-start gap-4">
        <SettingsFilter sections={sections} filter={filter} setFilter={setFilter} text={text} setText={setText} />
        <HideProvider value={filter ? null : sections.hide}>
          <TargetProvider value={wanted?.target ?? null}>
            <BegunProvider value={begun}>
              {shown.map((id) => (
                <VisibleSection key={id} id={id} filter={filter} defaultName={defaultName} prefix={prefix} />
              ))}
            </BegunProvider>
          </TargetProvider>
        </HideProvider>
        {shown.length === 0 && (
          <NoSections
            isSearch={text.trim() !== ''}
            onReset={() => {
              setText('')
              if (filter) setFilter(undefined)
            }}
            isEmpty={sections.empty}
            readOnly={form.readOnly !== null}
            onBegin={begin}
          />
        )}
      </div>
      {trailing && (
        <div className="min-w-0 min-[768px]:max-[1199px]:col-start-2 min-[1200px]:sticky min-[1200px]:top-[60px] min-[1200px]:max-h-[calc(100dvh-100px)] min-[1200px]:self-start min-[1200px]:overflow-y-auto">
          {trailing}
        </div>
      )}
    </div>
  )
}
