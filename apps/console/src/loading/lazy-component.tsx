import { type ComponentType, lazy, Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { loadChunk } from './load-chunk.ts'

/**
 * A part of a page that is loaded when it is first shown: forms, pickers, editors.
 * `const NodeCreate = lazyComponent(async () => (await import(path)).NodeCreate)`
 */
export function lazyComponent<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  const Part = lazy(async () => ({ default: await loadChunk(load) }))
  return function Later(props: P) {
    return (
      <Suspense fallback={<LoadingBar />}>
        <Part {...props} />
      </Suspense>
    )
  }
}

/** A progress line at the top edge, shown when a navigation takes noticeably long. */
function LoadingBar() {
  const { t } = useTranslation()
  return (
    <div
      data-loading-part
      role="progressbar"
      aria-label={t('loading')}
      className="fixed inset-x-0 top-0 z-60 h-0.5 animate-[appear_.2s_.25s_backwards]"
    >
      <div className="h-full animate-[breathe_1.2s_ease-in-out_infinite] bg-accent" />
    </div>
  )
}
