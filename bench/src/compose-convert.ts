import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { makeLargeCompose } from '@crux/compose/large-compose'
import { worstInputs } from '@crux/compose/worst-inputs'
import type { ComposeTask, ComposeTimes } from './compose-worker.ts'
import { interleave, median, type Report } from './measure.ts'

/** The first calls include compilation, and a page computes again after each change. */
const warmUps = 5
const shownInputs = 5

/**
 * What the composer computes for 200 services, in a thread as in the page, beside the bare YAML parser on the same text; and the processor time of
 * the inputs that are as expensive as they can be.
 */
export async function composeConvert(report: Report, rounds: number): Promise<void> {
  const worker = new Worker(new URL('compose-worker.ts', import.meta.url))
  const run = async (task: ComposeTask): Promise<ComposeTimes> => {
    worker.postMessage(task)
    const [times]: ComposeTimes[] = await once(worker, 'message')
    if (!times) throw new Error('The worker has not answered.')
    return times
  }
  try {
    const measure = (work: ComposeTask['work']) => async () => (await run({ input: 'large', work })).wall
    const sides = { ours: measure('compute'), theirs: measure('parse') }
    await interleave(warmUps, sides)
    const taken = await interleave(rounds, sides)
    const kib = makeLargeCompose(200).files.reduce((sum, { text }) => sum + text.length, 0) / 1_024
    report.number('conversion of 200 services', median(taken.ours), 'ms', '<= 300', `${kib.toFixed(0)} KiB of YAML`)
    report.ratio('conversion beside the bare YAML parse', taken, undefined, 'ms')
    await measureWorst(run, report)
  } finally {
    await worker.terminate()
  }
}

/** The least of three calls of each, and the input that needs the most of them. */
async function measureWorst(run: (task: ComposeTask) => Promise<ComposeTimes>, report: Report): Promise<void> {
  const results: { name: string; processor: number }[] = []
  for (const input of Object.keys(worstInputs)) {
    const taken: number[] = []
    for (let round = 0; round < 3; round++) taken.push((await run({ input, work: 'compute' })).processor)
    results.push({ name: input, processor: Math.min(...taken) })
  }
  results.sort((left, right) => right.processor - left.processor)
  const [worst] = results
  const detail = results.slice(0, shownInputs).map(({ name, processor }) => `${name} ${processor.toFixed(0)}`)
  report.number(
    `the worst of ${results.length} inputs, processor time`,
    worst?.processor ?? Number.NaN,
    'ms',
    '<= 200',
    detail.join('; '),
  )
}
