import type { WorkerRequest, WorkerResponse } from './compose-runner.ts'
import { computeResult } from './compute-result.ts'

// Runs in a web worker: a large or hostile file must not block the page.
self.onmessage = ({ data: { id, input } }: MessageEvent<WorkerRequest>) => {
  const respond = (response: WorkerResponse) => self.postMessage(response)
  try {
    respond({ id, result: computeResult(input) })
  } catch (error) {
    console.error(error)
    respond({ id })
  }
}
