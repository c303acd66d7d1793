import { directoryCircles, fileCircles, productionImports } from '../test/import-circles.ts'
import { missingReferences } from '../test/references.ts'
import { code, findRetired, identifiers, prose, words } from '../test/retired-words.ts'
import {
  componentLinesMax,
  countLines,
  functionLinesMax,
  getWorkspace,
  isTestCode,
  type MeasuredFunction,
  measureFile,
  writtenFiles,
} from '../test/source-measures.ts'

// `npm run measure` prints the size and shape of the sources. test/measure.test.ts checks what has a bound.

const files = writtenFiles()
const arrows = productionImports()
const [ofFiles, ofDirectories] = [fileCircles(arrows), directoryCircles(arrows)]
const production = files.filter(({ path }) => !isTestCode(path)).map((file) => ({ file, ...measureFile(file) }))

const rows = [...new Set(files.map(({ path }) => getWorkspace(path)))].sort().map((workspace) => {
  const isHere = (path = '') => getWorkspace(path) === workspace
  const here = production.filter(({ file }) => isHere(file.path))
  const lines = (test: boolean) =>
    files
      .filter(({ path }) => isHere(path) && isTestCode(path) === test)
      .reduce((total, file) => total + countLines(file), 0)
  return {
    workspace,
    lines: lines(false),
    'test lines': lines(true),
    'file circles': ofFiles.filter(([path]) => isHere(path)).length,
    'directory rings': ofDirectories.filter(([path]) => isHere(path)).length,
    casts: here.flatMap(({ casts }) => casts).length,
    'long functions': here.flatMap(({ functions }) => tooLong(functions, functionLinesMax)).length,
    'long components': here.flatMap(({ components }) => tooLong(components, componentLinesMax)).length,
  }
})

const columns = [
  'lines',
  'test lines',
  'file circles',
  'directory rings',
  'casts',
  'long functions',
  'long components',
] as const
const cells = (first: string, values: readonly (string | number)[]) =>
  console.log(
    first.padEnd(24) + values.map((value, index) => String(value).padStart((columns[index] ?? '').length + 2)).join(''),
  )

cells('', columns)
for (const row of rows) {
  const values = columns.map((column) => row[column])
  cells(row.workspace, values)
}
const totals = columns.map((column) => rows.reduce((total, row) => total + row[column], 0))
cells('total', totals)

const retired = [...findRetired(code, identifiers), ...findRetired([...code, ...prose], words)]
listRings('Directories that import each other', ofDirectories)
listRings('Files that import each other', ofFiles)
list(`Longest functions (at most ${functionLinesMax} lines)`, longest(production.flatMap(({ functions }) => functions)))
list(
  `Longest components (at most ${componentLinesMax} lines)`,
  longest(production.flatMap(({ components }) => components)),
)
list('Retired words', retired)
list(
  'References to documents that do not exist',
  missingReferences(files.filter(({ path }) => path !== 'test/measure.test.ts')),
)

function tooLong(functions: readonly MeasuredFunction[], max: number): MeasuredFunction[] {
  return functions.filter(({ lines }) => lines > max)
}

function longest(functions: readonly MeasuredFunction[]): string[] {
  return functions
    .toSorted((a, b) => b.lines - a.lines)
    .slice(0, 10)
    .map(({ path, line, name, lines }) => `${String(lines).padStart(4)}  ${name}  ${path}:${line}`)
}

function listRings(title: string, rings: readonly (readonly string[])[]): void {
  const lines = rings.map((ring) => ring.join(', '))
  list(title, lines)
}

function list(title: string, entries: readonly string[]): void {
  console.log(`\n${title}: ${entries.length === 0 ? 'none' : ''}`)
  for (const entry of entries) console.log(`  ${entry}`)
}
