import { useEffect, useRef, useState } from 'react'
import { useConfigForm } from '../form/config-context.ts'
import { type FieldFilter, fieldsFor, groups, holdsValue, isFor, type SectionId, sectionIds } from '../form/sections.ts'

/**
 * Which sections the form shows. Without a filter, sections with a value or an error and sections that the user opened;
 * with one all that have a setting of that kind. On a node of one kind, sections of the other are offered only where something is set
 * in them.
 */
export function useVisibleSections(hasError: (id: SectionId) => boolean, filter: FieldFilter | undefined) {
  const form = useConfigForm()
  const filled = sectionIds.filter((id) => holdsValue(id, form.own, form.parent) || hasError(id))
  const offered = sectionIds.filter((id) => isFor(id, form.nodeType) || filled.includes(id))
  const [lit, setLit] = useState<ReadonlySet<SectionId>>(() => new Set(filled))
  const before = useRef(filled)
  const key = filled.join()
  useEffect(() => {
    const joined = filled.filter((id) => !before.current.includes(id))
    before.current = filled
    if (joined.length > 0) setLit((all) => new Set([...all, ...joined]))
  }, [key])

  const fitting = offered.filter((id) => fieldsFor(id, filter).length > 0)
  return {
    /** No layer has a setting. */
    empty: filled.length === 0,
    /** The sections to choose from; with a filter only those of that kind. */
    offered: fitting,
    shown: filter ? fitting : offered.filter((id) => lit.has(id)),
    groups: groups.filter((group) => offered.some((id) => fieldsFor(id, group).length > 0)),
    show: (id: SectionId) => setLit((all) => new Set([...all, id])),
    hide: (id: SectionId) => setLit((all) => new Set([...all].filter((other) => other !== id))),
  }
}

export type VisibleSections = ReturnType<typeof useVisibleSections>
