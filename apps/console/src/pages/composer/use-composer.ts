import type { ResponseOf } from '@crux/contract'
import { startTransition, useCallback, useEffect, useRef, useState } from 'react'
import { type ComposeResult, keepUnchangedServices } from '../../composer/compose-result.ts'
import {
  type ComposeWorker,
  createComposeRunner,
  type RunnerStatus,
  type WorkerListener,
  type WorkerResponse,
} from '../../composer/compose-runner.ts'
import {
  type ComposerDraft,
  emptyDraft,
  parseDraft,
  parseProfiles,
  toSourceFiles,
} from '../../composer/composer-draft.ts'
import { readComposerDraft, writeComposerDraft } from '../../stores/composer-drafts.ts'

/** The worker is a file of this origin, which the content security policy allows. */
function createWorker({ onResponse, onError }: WorkerListener): ComposeWorker {
  const worker = new Worker(new URL('../../composer/compose-worker.ts', import.meta.url), { type: 'module' })
  worker.onmessage = ({ data }: MessageEvent<WorkerResponse>) => onResponse(data)
  worker.onerror = onError
  return { post: (request) => worker.postMessage(request), terminate: () => worker.terminate() }
}

/** Typing is not interrupted by the storage. */
const storeDelayMs = 300

type Registries = ResponseOf<'registries.list'>

/** The draft of a user, stored in the tab, and what the worker makes of it with the registries of the team. */
export function useComposer(userId: string, registries: Registries | undefined) {
  const [draft, setDraft] = useState<ComposerDraft>(() => parseDraft(readComposerDraft(userId)) ?? emptyDraft())
  const isStored = useStoredDraft(userId, draft)
  const [result, setResult] = useState<ComposeResult | null>(null)
  const [status, setStatus] = useState<RunnerStatus>('ready')
  const runner = useRef<ReturnType<typeof createComposeRunner>>(undefined)

  const compute = useCallback(() => {
    if (!registries) return
    runner.current ??= createComposeRunner({
      createWorker,
      // Hundreds of cards are rendered between two key presses, not before the next one.
      onResult: (next) => startTransition(() => setResult((previous) => keepUnchangedServices(previous, next))),
      onStatus: setStatus,
    })
    runner.current.update({
      files: toSourceFiles(draft.files),
      envFiles: toSourceFiles(draft.envFiles),
      profiles: parseProfiles(draft.profiles),
      registries,
    })
  }, [draft, registries])
  useEffect(compute, [compute])
  useEffect(
    () => () => {
      runner.current?.close()
      runner.current = undefined
    },
    [],
  )
  return { draft, setDraft, isStored, result, status, retry: compute }
}

/** Returns whether the draft survives a reload. */
function useStoredDraft(userId: string, draft: ComposerDraft): boolean {
  const [isStored, setStored] = useState(true)
  const latest = useRef(draft)
  latest.current = draft
  useEffect(() => {
    const store = () => setStored(writeComposerDraft(userId, JSON.stringify(latest.current)))
    const timer = setTimeout(store, storeDelayMs)
    return () => clearTimeout(timer)
  }, [userId, draft])
  useEffect(() => {
    // A reload or another page right after a key press keeps it too.
    const store = () => void writeComposerDraft(userId, JSON.stringify(latest.current))
    window.addEventListener('pagehide', store)
    return () => {
      window.removeEventListener('pagehide', store)
      store()
    }
  }, [userId])
  return isStored
}
