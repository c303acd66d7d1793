import { type FieldTarget, findFieldTarget, getField } from '@crux/config-editor'
import { mergeConfig } from '@crux/rules'
import { useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useConfigForm } from '../form/config-context.ts'
import { fieldsIn, type SectionId, sectionIds } from '../form/sections.ts'

/** The setting that the address names, for a link to a problem. The same link can be followed again. */
export function useLinkedField(show: (field: string, section: SectionId, target: FieldTarget | undefined) => void) {
  const form = useConfigForm()
  const linked = useLocation({ select: ({ hash, state }) => `${state.__TSR_key ?? ''}#${hash}` })
  const follow = (property: string) => {
    const field = getField(property)
    const section = sectionIds.find((id) => fieldsIn(id).some((known) => known === field))
    if (!section) return
    // Problems of an instance come from the merged configuration of all its layers.
    const merged = form.kind === 'instance'
    const counted = merged ? mergeConfig(form.below.fields, form.own) : form.own
    show(field, section, property === field ? undefined : findFieldTarget(property, counted, merged))
  }
  const latest = useRef(follow)
  latest.current = follow
  useEffect(() => latest.current(decoded(linked.slice(linked.indexOf('#') + 1))), [linked])
}

/** As the address bar may write it: `volumes%5B0%5D.path`. */
function decoded(hash: string): string {
  try {
    return decodeURIComponent(hash)
  } catch {
    return hash
  }
}
