import { type ComponentType, lazy, Suspense } from 'react'
import { loadChunk } from '../load-chunk.ts'

/**
 * A part of a page that is loaded when it is first shown: forms, pickers, editors.
 * `const NodeCreate = later(() => import('../forms/node-create.tsx').then((module) => module.NodeCreate))`
 */
export function later<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  const Part = lazy(async () => ({ default: await loadChunk(load) }))
  return function Later(props: P) {
    return (
      <Suspense>
        <Part {...props} />
      </Suspense>
    )
  }
}
