import { describe, expect, test } from 'vitest'
import { directoryCircles, fileCircles, productionImports } from './import-circles.ts'
import { casts } from './measure-limits.ts'
import { missingReferences } from './references.ts'
import {
  componentLinesMax,
  functionLinesMax,
  getWorkspace,
  isTestCode,
  type MeasuredFunction,
  measureFile,
  writtenFiles,
} from './source-measures.ts'

// `npm run measure` prints what is measured here, and more.

const files = writtenFiles()
const production = files
  .filter(({ path }) => !isTestCode(path))
  .map((file) => ({ path: file.path, ...measureFile(file) }))

describe('the measure of a file', () => {
  const measureText = (...lines: string[]) => measureFile({ path: 'apps/console/src/A.tsx', text: lines.join('\n') })

  test('counts type assertions, and not `as const`', () => {
    const { casts } = measureText(
      'const a = 1 as const',
      'const b = (a as unknown) as string',
      'import { c as d } from "e"',
    )
    expect(casts).toEqual([2, 2])
  })

  test('counts the lines of functions, and names those without a name after the function around them', () => {
    const { functions } = measureText('function outer() {', '  return () => {', '  }', '}', 'const arrow = () => 1')
    expect(functions.map(({ name, lines, line }) => [name, lines, line])).toEqual([
      ['outer', 4, 1],
      ['outer (inner)', 2, 2],
      ['arrow', 1, 5],
    ])
  })

  test('tells components from functions by their capital letter and JSX', () => {
    const { functions, components } = measureText(
      'const Page = () => <p />',
      'const cell = () => <p />',
      'const Id = () => 1',
    )
    expect(components.map(({ name }) => name)).toEqual(['Page'])
    expect(functions.map(({ name }) => name)).toEqual(['cell', 'Id'])
  })
})

test('the search for missing documents finds documents, anchors and numbers of decisions', () => {
  const text = ['// See docs/none.md.', '/* gate.md#none, docs/gate.md */', "const a = 'as said (decision 15)'"].join(
    '\n',
  )
  expect(missingReferences([{ path: 'docs/a.ts', text }])).toEqual([
    'docs/a.ts:1 docs/none.md',
    'docs/a.ts:2 gate.md#none',
    'docs/a.ts:3 decision 15',
  ])
})

test(`no function is longer than ${functionLinesMax} lines, and no component longer than ${componentLinesMax}`, () => {
  const isTooLong = (max: number) => (found: MeasuredFunction) => found.lines > max
  const tooLong = production.flatMap(({ functions, components }) => [
    ...functions.filter(isTooLong(functionLinesMax)),
    ...components.filter(isTooLong(componentLinesMax)),
  ])
  expect(tooLong.map(({ path, line, name, lines }) => `${path}:${line} ${name}: ${lines} lines`)).toEqual([])
})

test('no workspace has more type assertions than its limit', () => {
  const found = production.flatMap(({ path, casts }) => casts.map((line) => `${path}:${line}`))
  const byWorkspace = Object.entries(Object.groupBy(found, getWorkspace))
  expect(byWorkspace.filter(([workspace, lines = []]) => lines.length > (casts[workspace] ?? 0))).toEqual([])
})

test('no files import each other in a circle', () => {
  expect(fileCircles(productionImports())).toEqual([])
})

test('no directories import each other in a circle', () => {
  expect(directoryCircles(productionImports())).toEqual([])
})

test('every document, anchor and decision that code names exists', () => {
  expect(missingReferences(files.filter(({ path }) => path !== 'test/measure.test.ts'))).toEqual([])
})
