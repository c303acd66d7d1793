import { lazy, Suspense } from 'react'
import { loadChunk } from '../../../loading/load-chunk.ts'
import type { FieldFilter, SectionId } from '../form/sections.ts'
import { EnvironmentSection } from './EnvironmentSection.tsx'
import { GeneralSection } from './GeneralSection.tsx'

type Props = { id: SectionId; filter: FieldFilter | undefined; defaultName: string; prefix: string | undefined }

/** One section of the form by its name. The page is there before all of them are. */
export function VisibleSection({ id, filter, defaultName, prefix }: Props) {
  if (id === 'general') return <GeneralSection defaultName={defaultName} prefix={prefix} />
  if (id === 'environment') return <EnvironmentSection name={defaultName} />
  return (
    <Suspense fallback={<div className="skeleton h-32 rounded-box" />}>
      <OtherSection id={id} filter={filter} />
    </Suspense>
  )
}

// Asked for with the page, so that it is here when the page's data is.
const loadOtherSection = loadChunk(() => import('./OtherSection.tsx'))
loadOtherSection.catch(() => undefined)
const OtherSection = lazy(() => loadOtherSection.then((module) => ({ default: module.OtherSection })))
