import fc from 'fast-check'
import { arbitraryLayer } from './arbitrary-config.ts'

/** A possible request: valid except for one position, and sometimes valid there too. */
export type Mutation = { config: Record<string, unknown>; field: string }

/**
 * A valid layer in which one value, at any depth, is removed, duplicated or replaced by a malformed one.
 *
 * @param options.layers the number of generated layers; generating them takes most of the time
 */
export const arbitraryMutation = ({ seed, layers = 100 }: { seed: number; layers?: number }): fc.Arbitrary<Mutation> =>
  fc
    .record({
      layer: fc.constantFrom(...fc.sample(arbitraryLayer(), { numRuns: layers, seed })),
      steps: fc.array(fc.nat(), { minLength: 1, maxLength: 5 }),
      change: fc.oneof(
        { weight: 6, arbitrary: oddValue.map((value) => (): unknown => value) },
        { weight: 1, arbitrary: fc.constant((value: unknown): unknown => [value, value]) },
        { weight: 1, arbitrary: fc.constant((value: unknown): unknown => ({ value })) },
        { weight: 1, arbitrary: fc.constant(() => undefined) },
      ),
    })
    .map(({ layer, steps, change }) => {
      const config: Record<string, unknown> = structuredClone(layer)
      let place: Record<string, unknown> = config
      let name = ''
      const path: string[] = []
      for (const step of steps) {
        const names = Object.keys(place)
        name = names[step % names.length] ?? name
        path.push(name)
        const inner = place[name]
        if (
          path.length === steps.length ||
          typeof inner !== 'object' ||
          inner === null ||
          Object.keys(inner).length === 0
        )
          break
        place = inner as Record<string, unknown>
      }
      const value = change(place[name])
      if (value === undefined) delete place[name]
      else Object.defineProperty(place, name, { value, enumerable: true, writable: true, configurable: true })
      return { config, field: path[0] ?? '' }
    })

const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown[]>(
    null,
    true,
    0,
    -1,
    1.5,
    65_536,
    1e21,
    '',
    ' ',
    '\0',
    '..',
    '/',
    '-',
    '{{',
    '0x10',
    'a'.repeat(70_000),
    [],
    {},
    [null],
    [[]],
    [{}],
    { key: null },
    { from: 9, to: 1 },
    { __proto__: null },
    'constructor',
    '__proto__',
    '\ud800',
    '١٢',
    'NaN',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.integer(),
  fc.jsonValue({ maxDepth: 2 }),
)
