import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { ReadInput } from '../src/index.ts'

const root = join(import.meta.dirname, 'corpus')

export type ConvertCase = { name: string; input: ReadInput; expectedFile: string }

/** The cases of the corpus: a directory each. `compose.yaml` is the first compose file, `.env` the first of the others. */
export const listConvertCases = (): ConvertCase[] =>
  readdirSync(root)
    .sort()
    .map((name) => ({ name, input: readConvertCase(name), expectedFile: join(root, name, 'expected.json') }))

/** All files of one case. */
export function readConvertCase(name: string): ReadInput {
  const files = readdirSync(join(root, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'expected.json')
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => ({ name: relative(join(root, name), path), text: readFileSync(path, 'utf8') }))
  const isCompose = (file: { name: string }) => file.name.endsWith('.yaml')
  const first = files.filter((file) => file.name === 'compose.yaml')
  return {
    files: [...first, ...files.filter((file) => isCompose(file) && !first.includes(file))],
    envFiles: files.filter((file) => !isCompose(file)),
  }
}
