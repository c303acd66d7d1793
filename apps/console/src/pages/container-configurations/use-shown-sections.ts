import { useEffect, useRef, useState } from 'react'
import { useConfigForm } from './config-context.ts'
import { type Group, groupOf, groups, holdsValue, isFor, type SectionId, sectionIds } from './sections.ts'

/**
 * Which sections are lit (ui.md U13.2): at first those that have a value or an error; one that gets a value or an error joins them. On a
 * node of one kind, sections of the other are offered only where something is set in them.
 */
export function useShownSections(hasError: (id: SectionId) => boolean) {
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

  const shown = offered.filter((id) => lit.has(id))
  const idsOf = (group: Group | 'all') => offered.filter((id) => group === 'all' || groupOf(id) === group)
  return {
    /** Nothing is set anywhere. */
    empty: filled.length === 0,
    offered,
    shown,
    groups: groups.filter((group) => idsOf(group).length > 0),
    isLit: (group: Group | 'all') => idsOf(group).every((id) => lit.has(id)),
    show: (id: SectionId) => setLit((all) => new Set([...all, id])),
    hide: (id: SectionId) => setLit((all) => new Set([...all].filter((other) => other !== id))),
    toggle(group: Group | 'all') {
      const ids = new Set(idsOf(group))
      const off = [...ids].every((id) => lit.has(id))
      setLit((all) => new Set(off ? [...all].filter((id) => !ids.has(id)) : [...all, ...ids]))
    },
  }
}
