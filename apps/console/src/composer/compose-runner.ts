import type { ComposeInput, ComposeResult } from './compose-result.ts'

export type WorkerRequest = { id: number; input: ComposeInput }
/** `result` is absent if the worker failed. */
export type WorkerResponse = { id: number; result?: ComposeResult }

/** A web worker as the runner uses it. */
export type ComposeWorker = { post: (request: WorkerRequest) => void; terminate: () => void }
export type WorkerListener = { onResponse: (response: WorkerResponse) => void; onError: () => void }

/** `slow`: it takes longer than usual; `stopped`: it took too long and was ended; `failed`: the worker failed or could not be loaded. */
export type RunnerStatus = 'ready' | 'slow' | 'stopped' | 'failed'

type Options = {
  createWorker: (listener: WorkerListener) => ComposeWorker
  onResult: (result: ComposeResult) => void
  onStatus: (status: RunnerStatus) => void
}

const debounceMs = 60
/** Shorter waits are not shown. */
const slowMs = 150
/** Ten times what the largest accepted input takes. */
const timeoutMs = 5_000

/**
 * Computes results in a worker, one at a time. While one is computed, only the latest of the inputs that follow is kept, and a result whose input is
 * outdated is dropped. A worker that does not respond in time is terminated; the next input gets a new one.
 */
export function createComposeRunner({ createWorker, onResult, onStatus }: Options) {
  let worker: ComposeWorker | null = null
  let nextId = 1
  let running: { id: number; isOutdated: boolean } | null = null
  let waiting: ComposeInput | null = null
  let debounce: ReturnType<typeof setTimeout> | undefined
  let slow: ReturnType<typeof setTimeout> | undefined
  let timeout: ReturnType<typeof setTimeout> | undefined

  const finish = (status: RunnerStatus) => {
    running = null
    clearTimeout(timeout)
    if (waiting) return start()
    clearTimeout(slow)
    slow = undefined
    onStatus(status)
  }
  const endWorker = (status: RunnerStatus) => {
    worker?.terminate()
    worker = null
    finish(status)
  }
  const getWorker = (): ComposeWorker => {
    if (worker) return worker
    const created = createWorker({
      onResponse: ({ id, result }) => {
        if (running?.id !== id) return
        if (result && !running.isOutdated) onResult(result)
        finish(result ? 'ready' : 'failed')
      },
      onError: () => {
        if (worker === created) endWorker('failed')
      },
    })
    worker = created
    return created
  }
  function start() {
    const input = waiting
    if (!input || running) return
    waiting = null
    running = { id: nextId++, isOutdated: false }
    slow ??= setTimeout(() => onStatus('slow'), slowMs)
    timeout = setTimeout(() => endWorker('stopped'), timeoutMs)
    getWorker().post({ id: running.id, input })
  }

  return {
    /** Computes the result of this input soon; earlier inputs no longer count. */
    update(input: ComposeInput): void {
      waiting = input
      if (running) running.isOutdated = true
      clearTimeout(debounce)
      debounce = setTimeout(start, debounceMs)
    },
    close(): void {
      for (const timer of [debounce, slow, timeout]) clearTimeout(timer)
      waiting = null
      running = null
      worker?.terminate()
      worker = null
    },
  }
}
