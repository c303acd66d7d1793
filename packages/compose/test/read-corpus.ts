import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ReadInput, ReadResult } from '../src/index.ts'

/**
 * The cases of read-corpus: a text file each, with the given files, each below a line `=== compose.yaml`, `=== env .env` or `=== profiles`, and the
 * result below `=== result`. `CRUX_RECORD_CORPUS=1` writes the results, to be read before they are committed.
 */
export type CorpusCase = { name: string; input: ReadInput; expected: unknown; record(result: unknown): void }

const directory = new URL('read-corpus/', import.meta.url)

export function listCorpusCases(): CorpusCase[] {
  return readdirSync(fileURLToPath(directory))
    .sort()
    .map((fileName) => {
      const file = new URL(fileName, directory)
      const text = readFileSync(file, 'utf8')
      const sections = text
        .split(/^=== /m)
        .slice(1)
        .map((section) => {
          const end = section.indexOf('\n')
          return { title: section.slice(0, end), text: section.slice(end + 1) }
        })
      const given = sections.filter(({ title }) => title !== 'result')
      const result = sections.find(({ title }) => title === 'result')?.text
      const isFile = (title: string) => !title.startsWith('env ') && title !== 'profiles'
      return {
        name: fileName.replace('.txt', '').replaceAll('-', ' '),
        input: {
          files: given.filter(({ title }) => isFile(title)).map(({ title, text }) => ({ name: title, text })),
          envFiles: given
            .filter(({ title }) => title.startsWith('env '))
            .map(({ title, text }) => ({ name: title.slice(4), text })),
          profiles: given.filter(({ title }) => title === 'profiles').flatMap(({ text }) => text.trim().split('\n')),
        },
        expected: result === undefined ? undefined : JSON.parse(result),
        record: (value) => {
          const before = text.split(/^=== result\n/m)[0] ?? ''
          writeFileSync(file, `${before}=== result\n${JSON.stringify(value, null, 1)}\n`)
        },
      }
    })
}

/** What a case expects: the document as data, and each problem as one line. */
export function summarizeResult({ document, problems, notKept }: ReadResult): unknown {
  const variables = Object.entries(document?.envFileVariables ?? {}).filter(
    ([, values]) => Object.keys(values).length > 0,
  )
  return JSON.parse(
    JSON.stringify({
      value: document?.value,
      problems: problems.map(
        ({ level, file, line, column, path, message }) => `${level} ${file}:${line}:${column} ${path}: ${message}`,
      ),
      ...(document && document.invalidServices.size > 0 && { invalidServices: [...document.invalidServices] }),
      ...(variables.length > 0 && { envFileVariables: Object.fromEntries(variables) }),
      ...(notKept.length > 0 && {
        notKept: notKept.map(({ file, line, path, reason }) => `${file}:${line} ${path}: ${reason}`),
      }),
    }),
  )
}
