import { useEffect, useState } from 'react'
import { onScroll } from '../form/on-scroll.ts'
import { type SectionId, sectionIds } from '../form/sections.ts'

/** The section in view: the last one whose heading has passed the upper third of the page. */
export function useCurrentSection(): SectionId | null {
  const [current, setCurrent] = useState<SectionId | null>(null)
  useEffect(
    () =>
      onScroll(() => {
        const getTop = (id: SectionId) => document.getElementById(`section-${id}`)?.getBoundingClientRect().top
        const present = sectionIds.filter((id) => getTop(id) !== undefined)
        const passed = present.filter((id) => (getTop(id) ?? 0) <= innerHeight / 3)
        const atEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 4 && scrollY > 0
        setCurrent((atEnd ? present.at(-1) : (passed.at(-1) ?? present[0])) ?? null)
      }),
    [],
  )
  return current
}
