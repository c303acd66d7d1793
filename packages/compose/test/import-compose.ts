import { type ConvertResult, convertCompose, type ReadInput, readCompose } from '../src/index.ts'
import { readConvertCase } from './convert-corpus.ts'

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

/** @param name of a directory of the corpus */
export const importCorpusCase = (name: string): ConvertResult => importCompose(readConvertCase(name))
