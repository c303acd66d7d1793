import type { ContainerConfigFields } from '@crux/contract'
import { arbitraryConfig, arbitraryLayer } from '@crux/rules/arbitrary-config'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { importText } from '../../test/import-compose.ts'
import { toComparable } from './comparable.ts'
import { exportCompose } from './export-compose.ts'

const name = 'docker.io/library/app'
const exportOne = (config: ContainerConfigFields, tag: string | null = '1.2') =>
  exportCompose({ name: 'Version 1', images: [{ name, tag, config }] })

describe('the export of random configurations', () => {
  const imports = (config: ContainerConfigFields) => {
    const text = exportOne(config)
    const { images, problems } = importText(text)
    expect(problems.filter(({ level }) => level === 'error')).toEqual([])
    expect(images.map((image) => toComparable(image.config))).toEqual([toComparable(config)])
    expect(exportOne(images[0]?.config ?? {})).toBe(text)
  }

  test('imports to the same merged configuration', () => {
    fc.assert(fc.property(arbitraryConfig(), imports), { numRuns: 100 })
  })

  test('imports to the same layer, with removed keys and unset values', () => {
    fc.assert(fc.property(arbitraryLayer(), imports), { numRuns: 100 })
  })

  test('imports to the same configurations in the same order', () => {
    fc.assert(
      fc.property(fc.array(arbitraryConfig(), { maxLength: 5 }), (configs) => {
        const named = configs.map((config, index) => ({ ...config, name: `${config.name}-${index}` }))
        const text = exportCompose({ name: 'v1', images: named.map((config) => ({ name, tag: null, config })) })
        const { images } = importText(text)
        expect(images.map(({ config }) => toComparable(config))).toEqual(named.map(toComparable))
      }),
      { numRuns: 25 },
    )
  })
})
