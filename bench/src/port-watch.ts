import { fork } from 'node:child_process'
import { once } from 'node:events'

/** Watches a port from a process of its own, so that nothing of the measure holds up its clock. Answers before it returns. */
export async function watchPort(port: number): Promise<{ end: () => Promise<number> }> {
  const child = fork(new URL('./port-watcher.ts', import.meta.url), [String(port)])
  await once(child, 'message')
  return {
    /** Milliseconds of the longest time between two answers; ends the process. */
    async end() {
      child.send('end')
      const [longest] = (await once(child, 'message')) as [number]
      return longest
    },
  }
}
