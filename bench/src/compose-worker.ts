import { parentPort } from 'node:worker_threads'
import { makeLargeCompose } from '@crux/compose/large-compose'
import { worstInputs } from '@crux/compose/worst-inputs'
import { parse } from 'yaml'
import { computeResult } from '../../apps/console/src/composer/compute-result.ts'

// Does in a thread what the composer's worker does in a browser.

export type ComposeTask = { input: string; work: 'compute' | 'parse' }
/** Milliseconds of the call, and of the processor, which other processes do not prolong. */
export type ComposeTimes = { wall: number; processor: number }

const largeName = 'large'

parentPort?.on('message', ({ input, work }: ComposeTask) => {
  const files = input === largeName ? makeLargeCompose(200) : worstInputs[input]?.()
  if (!files) throw new Error(`There is no input ${input}.`)
  const used = process.cpuUsage()
  const from = performance.now()
  if (work === 'compute') computeResult({ ...files, registries: [] })
  else for (const { text } of files.files) parse(text)
  const wall = performance.now() - from
  const { user, system } = process.cpuUsage(used)
  const times: ComposeTimes = { wall, processor: (user + system) / 1_000 }
  parentPort?.postMessage(times)
})
