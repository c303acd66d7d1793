import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Browser } from '../test/browser.ts'
import { type Alterable, startAlteringProxy } from '../test/kratos/altering-proxy.ts'
import { deviations } from '../test/kratos/compare.ts'
import { type Difference, differences, isAllowed } from '../test/kratos/differences.ts'
import { startOurs } from '../test/kratos/ours.ts'
import { readRecording } from '../test/kratos/recording.ts'
import { type Found, replay } from '../test/kratos/run.ts'
import { scenarios } from '../test/kratos/scenarios/all.ts'

const recording = readRecording()
const occurred = new Set<Difference>()
const played = new Set<string>()

let ours: Awaited<ReturnType<typeof startOurs>>
beforeAll(async () => {
  ours = await startOurs()
})
afterAll(async () => {
  await ours.stop()
})

describe.concurrent('the service answers like the recorded Ory Kratos', () => {
  it.each(Object.entries(scenarios))('in the scenario %s', async (name, scenario) => {
    const recorded = recording[name]
    if (!recorded) throw new Error('not recorded: see docs/identity.md')
    const isExpected = (found: Found) => {
      const entry = differences.find((difference) => isAllowed(difference, name, found))
      if (entry) occurred.add(entry)
      return entry !== undefined
    }
    const { found, failure } = await replay(ours, scenario, recorded, isExpected)
    played.add(name)
    const wrong = found.filter((entry) => !isExpected(entry)).map(describeFound)
    expect(failure === undefined ? wrong : [...wrong, String(failure)]).toEqual([])
  })
})

it('and the list of differences contains only differences that occur', ({ skip }) => {
  if (played.size < Object.keys(scenarios).length) skip('only with all scenarios')
  expect(differences.filter((entry) => !occurred.has(entry))).toEqual([])
})

it('and the recording contains only scenarios that exist', () => {
  expect(Object.keys(recording).filter((name) => !(name in scenarios))).toEqual([])
})

describe('the comparison with the recording', () => {
  const names = [
    'login: a single-page application gets cookies and the address to continue at',
    'login: a wrong password in a single-page application is refused',
  ]
  const alterations: Record<string, (answer: Alterable) => Alterable> = {
    'another status': (answer) => ({ ...answer, status: answer.status === 200 ? 201 : answer.status }),
    'a cookie that scripts can read': ({ headers, ...answer }) => ({
      ...answer,
      headers: { ...headers, 'set-cookie': headers['set-cookie']?.map((line) => line.replace('; HttpOnly', '')) },
    }),
    'an answer that may be cached': ({ headers, ...answer }) => ({
      ...answer,
      headers: { ...headers, 'cache-control': undefined },
    }),
    'a missing input': ({ body, ...answer }) => ({
      ...answer,
      body: body.replace('"name":"identifier"', '"name":"id"'),
    }),
    'another message': ({ body, ...answer }) => ({ ...answer, body: body.replace('1010022', '1010001') }),
    'another way to go on': ({ body, ...answer }) => ({
      ...answer,
      body: body.replace('"redirect_browser_to":"', '"redirect_browser_to":"/elsewhere'),
    }),
    'a secret too many': ({ body, ...answer }) => ({ ...answer, body: body.replace('{"id":', '{"hash":"x","id":') }),
  }
  const foundBehind = async (alter: (answer: Alterable) => Alterable) => {
    const proxy = await startAlteringProxy(ours.publicUrl, alter)
    const service = { ...ours, browser: (headers?: Record<string, string>) => new Browser(proxy.url, headers) }
    try {
      const all: Found[] = []
      for (const name of names) {
        const [scenario, recorded] = [scenarios[name], recording[name]]
        if (!scenario || !recorded) throw new Error(`there is no ${name}`)
        const { found } = await replay(service, scenario, recorded, () => true)
        all.push(...found.filter((entry) => !differences.some((difference) => isAllowed(difference, name, entry))))
      }
      return all
    } finally {
      await proxy.stop()
    }
  }

  it('finds no difference where nothing is altered', async () => {
    expect(await foundBehind((answer) => answer)).toEqual([])
  })

  it.each(Object.entries(alterations))('finds %s', async (_what, alter) => {
    expect(await foundBehind(alter)).not.toEqual([])
  })

  it('finds a change at any position of any recorded answer', () => {
    for (const [scenario, steps] of Object.entries(recording))
      for (const [step, answer] of Object.entries(steps))
        for (const { altered, path } of changedAnswers(answer))
          expect(
            deviations(answer, altered).map((found) => found.path),
            `${scenario} / ${step}`,
          ).toEqual([path])
  })
})

/** Copies of an answer with one altered value each, at one position within every part of the answer. */
function* changedAnswers(answer: unknown): Generator<{ altered: unknown; path: string }> {
  if (typeof answer !== 'object' || answer === null) {
    yield { altered: `${String(answer)} altered`, path: '' }
    return
  }
  for (const [part, value] of Object.entries(answer)) {
    const path = [part, ...deepPosition(value)]
    yield { altered: changedAt(answer, path), path: path.join('.') }
  }
}

/** The path to a value without children, always by the last name. */
function deepPosition(value: unknown): string[] {
  const last = typeof value === 'object' && value !== null ? Object.keys(value).at(-1) : undefined
  return last === undefined ? [] : [last, ...deepPosition((value as Record<string, unknown>)[last])]
}

function changedAt(value: unknown, [name, ...rest]: string[]): unknown {
  if (name === undefined) return 'altered'
  if (Array.isArray(value)) return value.with(Number(name), changedAt(value[Number(name)], rest))
  return { ...(value as object), [name]: changedAt((value as Record<string, unknown>)[name], rest) }
}

function describeFound({ step, path, recorded, seen }: Found): string {
  return `${step} / ${path}: ${JSON.stringify(seen)} instead of ${JSON.stringify(recorded)}`
}
