import { type Deviation, deviations } from './compare.ts'
import { observe } from './observe.ts'
import { makeTestEnvironment, type Scenario, type Service } from './service.ts'

/** Runs a scenario and returns its observations by step. */
export async function watch(
  service: Service,
  scenario: Scenario,
  onStep: (label: string, seen: unknown) => boolean = () => true,
): Promise<Record<string, unknown>> {
  const steps: Record<string, unknown> = {}
  let hopeless = false
  const keep = (label: string, seen: unknown) => {
    if (label in steps) throw new Error(`two steps are labelled ${label}`)
    steps[label] = seen
    if (!onStep(label, seen)) hopeless = true
  }
  const testEnvironment = makeTestEnvironment(service, {
    see: (label, answer) => keep(label, observe(answer)),
    note: keep,
    hopeless: () => hopeless,
  })
  await scenario(testEnvironment)
  return steps
}

export interface Found extends Deviation {
  step: string
}

/** Runs a scenario against a service and compares each step with the recording. */
export async function replay(
  service: Service,
  scenario: Scenario,
  recorded: Record<string, unknown>,
  isExpected: (found: Found) => boolean,
): Promise<{ found: Found[]; failure?: unknown }> {
  const found: Found[] = []
  const missing = new Set(Object.keys(recorded))
  const failure = await watch(service, scenario, (step, seen) => {
    missing.delete(step)
    const its = deviations(recorded[step], seen).map((deviation) => ({ step, ...deviation }))
    found.push(...its)
    return its.every(isExpected)
  }).then(
    () => undefined,
    (error: unknown) => error,
  )
  if (failure !== undefined) return { found, failure }
  for (const step of missing) found.push({ step, path: '', recorded: recorded[step], seen: undefined })
  return { found }
}

/** Runs many scenarios, some of them concurrently. */
export async function watchAll(
  service: Service,
  scenarios: Record<string, Scenario>,
): Promise<{ seen: Record<string, Record<string, unknown>>; failures: [string, unknown][] }> {
  const seen = new Map<string, Record<string, unknown>>()
  const failures: [string, unknown][] = []
  const left = Object.entries(scenarios)
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [name, scenario] = next
      try {
        seen.set(name, await watch(service, scenario))
      } catch (error) {
        failures.push([name, error])
      }
    }
  }
  await Promise.all([work(), work(), work(), work()])
  const inOrder = Object.keys(scenarios).flatMap((name) => {
    const steps = seen.get(name)
    return steps ? [[name, steps] as const] : []
  })
  return { seen: Object.fromEntries(inOrder), failures }
}
