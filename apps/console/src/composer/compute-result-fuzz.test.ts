import { type ComposeProblem, readCompose } from '@crux/compose'
import { mutatedFiles } from '@crux/compose/mutated-files'
import { worstInputs } from '@crux/compose/worst-inputs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ComposeInput, ComposeResult } from './compose-result.ts'
import { computeResult } from './compute-result.ts'

// The whole work of the worker. Counts bound its time and memory; `npm run bench -- compose-convert` measures the time.

/** Every run computes the same; CRUX_TEST_SEED sets another seed. A failure names the files, reduced to a minimum. */
const seed = Number(process.env.CRUX_TEST_SEED ?? 20_261_123)
const numRuns = process.env.CRUX_TEST_FULL ? 20_000 : 500
const long = process.env.CRUX_TEST_FULL ? 600_000 : 40_000

/** Characters of a result, which is sent to the page. */
const resultMax = 12 * 1024 * 1024
const servicesMax = 500

/** Sends the result as the worker does. */
const getLength = (result: ComposeResult) => JSON.stringify(structuredClone(result)).length

function listIncomplete(input: ComposeInput, { problems, notKept }: ComposeResult): unknown[] {
  const names = new Set([...input.files, ...input.envFiles].map(({ name }) => name))
  const hasPlace = ({ file, line, column }: { file: string; line: number; column: number }) =>
    names.has(file) && line >= 1 && column >= 1
  const isComplete = (problem: ComposeProblem) => hasPlace(problem) && problem.message.length > 10
  return [...problems.filter((problem) => !isComplete(problem)), ...notKept.filter((entry) => !hasPlace(entry))]
}

test(
  'mutated files are read and converted without an exception, and every problem has a place and a sentence',
  () => {
    const outcomes = { services: 0, problems: 0 }
    fc.assert(
      fc.property(mutatedFiles, (files) => {
        const input = { ...files, registries: [] }
        const result = computeResult(input)
        expect(listIncomplete(input, result)).toEqual([])
        expect(getLength(result)).toBeLessThan(resultMax)
        const failed = new Set(result.failedServices)
        expect(result.services.filter(({ service }) => failed.has(service))).toEqual([])
        if (result.services.length > 0) outcomes.services += 1
        if (result.problems.length > 0) outcomes.problems += 1
      }),
      { numRuns, seed },
    )
    // Most mutations are small, so that both outcomes occur.
    expect(outcomes.services).toBeGreaterThan(numRuns / 10)
    expect(outcomes.problems).toBeGreaterThan(numRuns / 10)
  },
  long,
)

test(
  'the document of mutated files is plain data',
  () => {
    fc.assert(
      fc.property(mutatedFiles, (files) => {
        const { document } = readCompose(files)
        const text = JSON.stringify(document?.value ?? null)
        expect(JSON.stringify(JSON.parse(text))).toBe(text)
      }),
      { numRuns: numRuns / 10, seed },
    )
  },
  long,
)

describe('the worst inputs end with a result of bounded size', () => {
  test.each(Object.entries(worstInputs))('%s', (_, makeInput) => {
    const input = { ...makeInput(), registries: [] }
    const result = computeResult(input)
    expect(listIncomplete(input, result)).toEqual([])
    expect(result.services.length).toBeLessThanOrEqual(servicesMax)
    expect(getLength(result)).toBeLessThan(resultMax)
    // It is not read as an empty project: there are services, or it says what is wrong or not kept.
    expect(result.services.length + result.problems.length + result.notKept.length).toBeGreaterThan(0)
  })
})
