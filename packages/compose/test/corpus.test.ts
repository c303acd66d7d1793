import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { ContainerConfigFields } from '@crux/contract'
import { configToJson, validateConfig } from '@crux/rules'
import { describe, expect, test } from 'vitest'
import { type ConvertResult, exportCompose } from '../src/index.ts'
import { listConvertCases } from './convert-corpus.ts'
import { importCompose, importText } from './import-compose.ts'

// Each directory of the corpus has compose files and what becomes of them. CRUX_RECORD_COMPOSE=1 writes the expected results again; Biome formats them.

const cases = listConvertCases()
const record = process.env.CRUX_RECORD_COMPOSE === '1'

/** The result in the form of `expected.json`. */
const describeResult = ({ images, problems, notKept }: ConvertResult) => ({
  images: images.map(({ service, reference, name, tag, config }) => ({
    service,
    image: tag === null ? name : `${name} ${tag}`,
    reference,
    config: configToJson(config, { base: true }),
  })),
  problems: problems.map(
    ({ level, file, line, column, path, service, message }) =>
      `${level} ${file}:${line}:${column} ${path} [${service ?? ''}] ${message}`,
  ),
  notKept: notKept.map(
    ({ file, line, column, path, service, reason }) => `${file}:${line}:${column} ${path} [${service ?? ''}] ${reason}`,
  ),
})

test('the corpus has at least 60 cases', () => {
  expect(cases.length).toBeGreaterThanOrEqual(60)
})

describe.each(cases)('$name', ({ name, input, expectedFile: file }) => {
  const result = importCompose(input)

  test('converts to the expected images, problems and keys that are not kept', () => {
    const found = JSON.parse(JSON.stringify(describeResult(result)))
    if (record || !existsSync(file)) writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`)
    expect(found).toEqual(JSON.parse(readFileSync(file, 'utf8')))
  })

  test('has only configurations that the contract and the rules accept', () => {
    for (const { config } of result.images) {
      expect(ContainerConfigFields.parse(config)).toEqual(config)
      expect(validateConfig(config)).toEqual([])
    }
  })

  test('imports to the same images and configurations after an export', () => {
    const exported = exportCompose({ name, images: result.images })
    const again = importText(exported)
    expect(again.problems.filter(({ level }) => level === 'error')).toEqual([])
    const identify = ({ images }: ConvertResult) => images.map(({ name, tag, config }) => ({ name, tag, config }))
    expect(identify(again)).toEqual(identify(result))
    expect(exportCompose({ name, images: again.images })).toBe(exported)
  })
})
