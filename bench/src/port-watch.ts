import { fork } from 'node:child_process'
import { once } from 'node:events'

/** Watches a port from a separate process, so that the measurement does not delay its clock. Returns after the first answer. */
export async function watchPort(port: number): Promise<{ end: () => Promise<number> }> {
  const child = fork(new URL('./port-watcher.ts', import.meta.url), [String(port)])
  await once(child, 'message')
  return {
    /** Milliseconds of the longest time between two answers; ends the process. */
    async end() {
      child.send('end')
      const [longest = 0]: number[] = await once(child, 'message')
      return longest
    },
  }
}
