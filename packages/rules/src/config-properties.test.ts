import { ContainerConfigFields, FinalContainerConfig } from '@crux/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryConfig, arbitraryLayer } from '../test/arbitrary-config.ts'
import { arbitraryMutation } from '../test/arbitrary-mutation.ts'
import { bundleConflicts } from './bundle-conflicts.ts'
import { diffConfig } from './config-diff.ts'
import { mergeConfig } from './config-merge.ts'
import { configParts, sameValue, withoutIds } from './config-parts.ts'
import { applyConfigPatch, fillRowIds } from './config-patch.ts'
import { validateConfig } from './config-validate.ts'
import { type ConfigLayer, finalConfig, mergeLayers } from './final-config.ts'
import { hostDangers } from './host-dangerous.ts'
import { notApplied } from './not-applied.ts'

const full = Boolean(process.env.CRUX_TEST_FULL)
const seed = Number(process.env.CRUX_TEST_SEED ?? 20_261_121)
const runs = (few: number, many: number) => ({ numRuns: full ? many : few, seed })
const long = full ? 600_000 : 30_000
const whole = { whole: true, nodeType: 'docker', prefix: 'shop' } as const

describe('random configurations', () => {
  it(
    'are valid',
    () => {
      fc.assert(
        fc.property(arbitraryConfig(), (config) => {
          expect(validateConfig(config, whole)).toEqual([])
          expect(FinalContainerConfig.safeParse(config).error).toBeUndefined()
        }),
        runs(100, 5_000),
      )
      fc.assert(
        fc.property(arbitraryConfig({ runnable: true, hostPorts: [40_001, 40_002, 40_003] }), (config) => {
          expect(validateConfig(config, whole)).toEqual([])
          expect(hostDangers(config)).toEqual([])
          expect(notApplied(config, 'docker')).toEqual([])
        }),
        runs(100, 5_000),
      )
      fc.assert(
        fc.property(arbitraryLayer(), (layer) => {
          expect(validateConfig(layer)).toEqual([])
        }),
        runs(100, 5_000),
      )
    },
    long,
  )

  it('contain every setting at least once', () => {
    const seen = new Set(fc.sample(arbitraryConfig(), { numRuns: 300, seed }).flatMap((config) => Object.keys(config)))
    expect(Object.keys(ContainerConfigFields.shape).filter((field) => !seen.has(field))).toEqual([])
  })
})

describe('merging', () => {
  const layers = (...all: ContainerConfigFields[]): ConfigLayer[] =>
    all.map((fields) => ({ source: 'instance', fields }))
  const make = (image: ContainerConfigFields, ...above: ContainerConfigFields[]) =>
    finalConfig({ image, layers: layers(...above), imageName: 'app', versionName: '1' })
  const overlapping = new Set(['volumes', 'portRanges'])
  const comesTo = (fields: ContainerConfigFields) =>
    [...configParts(make(fields).config)]
      .filter(([, { field }]) => !overlapping.has(field))
      .map(([path, { value }]): [string, unknown] => [path, value])
      .sort(([left], [right]) => left.localeCompare(right))

  it(
    'is deterministic, does not change the layers, and results in a configuration that the agent accepts',
    () => {
      fc.assert(
        fc.property(
          arbitraryLayer(),
          arbitraryLayer(),
          arbitraryLayer(),
          arbitraryLayer(),
          (image, bundle, deployment, instance) => {
            const before = JSON.stringify([image, bundle, deployment, instance])
            const { config, origins } = make(image, bundle, deployment, instance)
            expect(make(image, bundle, deployment, instance).config).toEqual(config)
            expect(JSON.stringify([image, bundle, deployment, instance])).toBe(before)
            expect(FinalContainerConfig.safeParse(config).error).toBeUndefined()
            expect([...origins().keys()].sort()).toEqual([...configParts(config).keys()].sort())
          },
        ),
        runs(50, 3_000),
      )
    },
    long,
  )

  it(
    'does not depend on how layers are grouped',
    () => {
      fc.assert(
        fc.property(arbitraryLayer(), arbitraryLayer(), arbitraryLayer(), (a, b, c) => {
          expect(comesTo(mergeConfig(mergeConfig(a, b), c))).toEqual(comesTo(mergeConfig(a, mergeConfig(b, c))))
          expect(mergeLayers(layers(a, b, c))).toEqual(mergeConfig(mergeConfig(mergeConfig({}, a), b), c))
        }),
        runs(50, 3_000),
      )
    },
    long,
  )

  it(
    'changes nothing where a layer is merged over itself or over its own merge result',
    () => {
      fc.assert(
        fc.property(arbitraryLayer(), arbitraryLayer(), (a, b) => {
          const parts = (fields: ContainerConfigFields) =>
            [...configParts(make(fields).config)].map(([path, { value }]) => JSON.stringify([path, value])).sort()
          expect(parts(mergeConfig(a, a))).toEqual(parts(a))
          const both = mergeConfig(a, b)
          expect(parts(mergeConfig(both, b))).toEqual(parts(both))
        }),
        runs(50, 3_000),
      )
    },
    long,
  )

  it(
    'finds the same conflicts in any order of the bundles',
    () => {
      fc.assert(
        fc.property(arbitraryLayer(), arbitraryLayer(), arbitraryLayer(), (a, b, deployment) => {
          const found = (...bundles: ContainerConfigFields[]) =>
            bundleConflicts(
              bundles.map((fields) => ({ configId: fields === a ? 'a' : 'b', name: '', fields })),
              deployment,
            )
              .map(({ property }) => property)
              .sort()
          expect(found(a, b)).toEqual(found(b, a))
          expect(
            bundleConflicts(
              [
                { configId: 'a', name: '', fields: a },
                { configId: 'b', name: '', fields: a },
              ],
              {},
            ),
          ).toEqual([])
        }),
        runs(50, 2_000),
      )
    },
    long,
  )
})

describe('a patch of the differences', () => {
  it(
    'results in the other configuration, without remaining differences',
    () => {
      fc.assert(
        fc.property(arbitraryLayer(), arbitraryLayer(), (from, to) => {
          const names = [...new Set([...Object.keys(from), ...Object.keys(to)])] as (keyof ContainerConfigFields)[]
          const config = Object.fromEntries(
            names.filter((name) => !sameValue(from[name], to[name])).map((name) => [name, to[name] ?? null]),
          )
          // Markers are merged by section, so a section is removed only with the whole field.
          const fields = { ...from, labels: undefined, annotations: undefined }
          const result = applyConfigPatch({
            fields,
            patch: { config: { ...config, labels: to.labels, annotations: to.annotations } },
            changedAt: new Map(),
          })
          expect(result.kind === 'applied' && diffConfig(result.fields, to)).toEqual([])
          let next = 0
          const filled = fillRowIds(to, from, () => `id-${next++}`)
          expect(withoutIds(filled)).toEqual(withoutIds(to))
        }),
        runs(50, 3_000),
      )
    },
    long,
  )
})

describe('a configuration with an error', () => {
  it(
    'is refused with a position and a sentence, and never throws',
    () => {
      let refused = 0
      fc.assert(
        fc.property(arbitraryMutation({ seed, layers: full ? 1_000 : 100 }), ({ config }) => {
          const fields = config as ContainerConfigFields
          for (const options of [whole, { whole: true, nodeType: 'k8s' as const }]) {
            const unclear = validateConfig(fields, options).filter(
              ({ property, error, description }) =>
                !/^[a-zA-Z]+([.[]|$)/.test(property) || error === '' || description.length < 5,
            )
            expect(unclear).toEqual([])
          }
          const own = validateConfig(fields)
          if (own.length > 0) refused += 1
          // One letter is a valid name after a prefix, though users cannot enter it.
          const { name, ...rest } = fields
          const parsed = ContainerConfigFields.safeParse(
            typeof name === 'string' && /^[a-z0-9]$/.test(name) ? rest : config,
          )
          if (!parsed.success) {
            expect(own.length).toBeGreaterThan(0)
            return
          }
          expect(new Set(own.map(({ property }) => property)).size).toBe(own.length)
          finalConfig({ image: parsed.data, layers: [], imageName: 'app', versionName: '1' }).origins()
          notApplied(parsed.data, 'docker')
          hostDangers(parsed.data)
          expect(diffConfig(parsed.data, parsed.data)).toEqual([])
        }),
        runs(2_000, 10_000),
      )
      expect(refused).toBeGreaterThan((full ? 10_000 : 2_000) / 3)
    },
    long,
  )
})
