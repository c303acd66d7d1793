import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { differences, isAllowed, isAt, type Place } from '../test/kratos/differences.ts'
import { startOurs } from '../test/kratos/ours.ts'
import { pending } from '../test/kratos/pending.ts'
import { readRecording } from '../test/kratos/recording.ts'
import { type Found, replay } from '../test/kratos/run.ts'
import { scenarios } from '../test/kratos/scenarios/all.ts'

const recording = readRecording()
const pendingScenarios = new Set(Object.values(pending).flatMap((group) => group.scenarios ?? []))
const pendingParts = Object.values(pending).flatMap((group) => group.parts ?? [])
const occurred = new Set<Place>()
const played = new Set<string>()

let ours: Awaited<ReturnType<typeof startOurs>>
beforeAll(async () => {
  ours = await startOurs()
})
afterAll(async () => {
  await ours.stop()
  const parts = pendingParts.length === 0 ? '' : ` and ${pendingParts.length} parts of answers`
  if (parts || pendingScenarios.size > 0) console.warn(`${pendingScenarios.size} scenarios${parts} are pending`)
})

describe.concurrent('answers as the recorded Ory Kratos', () => {
  it.each(Object.entries(scenarios))('%s', { timeout: 60_000 }, async (name, scenario) => {
    const recorded = recording[name]
    if (!recorded) throw new Error('not recorded: see docs/identity.md')
    const isPending = pendingScenarios.has(name)
    const isExpected = (found: Found) => {
      const place =
        differences.find((entry) => isAllowed(entry, name, found)) ??
        pendingParts.find((entry) => isAt(entry, name, found))
      if (place && !isPending) occurred.add(place)
      return place !== undefined
    }
    const { found, failure } = await replay(ours, scenario, recorded, isExpected)
    played.add(name)
    const wrong = found.filter((entry) => !isExpected(entry)).map(describeFound)
    if (failure !== undefined) wrong.push(String(failure))
    if (isPending) expect(wrong, 'passes: take it off the list of pending scenarios').not.toEqual([])
    else expect(wrong).toEqual([])
  })
})

it('lists no difference and nothing pending that does not occur', ({ skip }) => {
  if (played.size < Object.keys(scenarios).length) skip('only with all scenarios')
  expect([...differences, ...pendingParts].filter((entry) => !occurred.has(entry))).toEqual([])
})

it('lists only scenarios that exist, as recorded and as pending', () => {
  expect(Object.keys(recording).filter((name) => !(name in scenarios))).toEqual([])
  expect([...pendingScenarios].filter((name) => !(name in scenarios))).toEqual([])
})

function describeFound({ step, path, recorded, seen }: Found): string {
  return `${step} / ${path}: ${JSON.stringify(seen)} instead of ${JSON.stringify(recorded)}`
}
