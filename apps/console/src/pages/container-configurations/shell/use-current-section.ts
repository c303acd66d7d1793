import { useEffect, useState } from 'react'
import type { SectionId } from '../form/sections.ts'
import { sectionIds } from '../form/sections.ts'

/** The section in view: the last one whose heading has passed the upper third of the page. */
export function useCurrentSection(): SectionId | null {
  const [current, setCurrent] = useState<SectionId | null>(null)
  useEffect(() => {
    let frame = 0
    const look = () => {
      frame = 0
      const line = innerHeight / 3
      const passed = sectionIds.filter(
        (id) =>
          (document.getElementById(`section-${id}`)?.getBoundingClientRect().top ?? Number.POSITIVE_INFINITY) <= line,
      )
      const atEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 4 && scrollY > 0
      const present = sectionIds.filter((id) => document.getElementById(`section-${id}`))
      setCurrent((atEnd ? present.at(-1) : (passed.at(-1) ?? present[0])) ?? null)
    }
    const later = () => {
      frame ||= requestAnimationFrame(look)
    }
    look()
    addEventListener('scroll', later, { passive: true })
    addEventListener('resize', later)
    return () => {
      cancelAnimationFrame(frame)
      removeEventListener('scroll', later)
      removeEventListener('resize', later)
    }
  }, [])
  return current
}
