import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type ConvertResult, convertCompose, type ReadInput, readCompose } from '../src/index.ts'

/** Each directory has the files of one case, and `expected.json` with what becomes of them. */
export const corpusDirectory: string = join(import.meta.dirname, 'corpus')

/** Reads and converts compose files, with what both steps report. */
export function importCompose(input: ReadInput): ConvertResult {
  const { document, problems, notKept } = readCompose(input)
  if (!document) return { images: [], problems, notKept }
  const converted = convertCompose(document)
  return {
    images: converted.images,
    problems: [...problems, ...converted.problems],
    notKept: [...notKept, ...converted.notKept],
  }
}

export const importText = (text: string): ConvertResult =>
  importCompose({ files: [{ name: 'compose.yaml', text }], envFiles: [] })

/** All files of a case of the corpus: `compose.yaml` is the first compose file, `.env` the first of the others. */
export function importCorpusCase(name: string): ConvertResult {
  const directory = join(corpusDirectory, name)
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'expected.json')
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => ({ name: relative(directory, path), text: readFileSync(path, 'utf8') }))
  const isCompose = (file: { name: string }) => file.name.endsWith('.yaml')
  const first = files.filter((file) => file.name === 'compose.yaml')
  return importCompose({
    files: [...first, ...files.filter((file) => isCompose(file) && !first.includes(file))],
    envFiles: files.filter((file) => !isCompose(file)),
  })
}
