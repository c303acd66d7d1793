import type { ComposePath, SourceFile } from '../model.ts'
import { type Budget, LimitError, limits } from './limits.ts'
import type { ProblemList } from './problems.ts'
import { type Lookup, substitute } from './substitute.ts'

export type EnvFileTools = {
  /** Variables that are known outside of the file; they are stronger than those of the file. */
  lookup: Lookup
  budget: Budget
  problems: ProblemList
  /** The setting that names the file; empty for the default `.env`. */
  path: ComposePath
}

type Reader = EnvFileTools & {
  file: SourceFile
  text: string
  values: Map<string, string>
  lineAt: () => number
  at: number
  invalidLines: number
}

/**
 * The variables of an `.env` file as Docker Compose reads it: comments, `export`, `'literal'` and `"with $VARIABLES and \n"` values that may have
 * several lines, values without quotes up to ` #`, and names without a value, which take the one that is known outside of the file.
 */
export function readEnvFile(file: SourceFile, tools: EnvFileTools): Map<string, string> {
  const reader = createReader(file, tools)
  while (skipToStatement(reader)) readStatement(reader)
  return reader.values
}

/** `format: raw`: every line is `KEY=value`, and the value is taken as it is. */
export function readRawEnvFile(file: SourceFile, tools: EnvFileTools): Map<string, string> {
  const reader = createReader(file, tools)
  while (skipToStatement(reader)) {
    const line = takeLine(reader)
    const equals = line.indexOf('=')
    const key = equals < 0 ? line.trimEnd() : line.slice(0, equals)
    if (/\s/.test(key) || key === '')
      reportLine(reader, 'A variable is written as NAME=value, without spaces in its name.')
    else setValue(reader, key, equals < 0 ? tools.lookup(key) : line.slice(equals + 1))
    reader.at += line.length
  }
  return reader.values
}

function createReader(file: SourceFile, tools: EnvFileTools): Reader {
  if (file.text.length > limits.textLength)
    throw new LimitError(`${file.name} is larger than 1 MiB. Remove variables that the services do not need.`)
  tools.budget.readEnvText(file.text.length)
  const text = file.text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
  let [line, counted] = [1, 0]
  const reader: Reader = {
    ...tools,
    file,
    text,
    at: 0,
    invalidLines: 0,
    values: new Map(),
    lineAt() {
      for (; counted < reader.at; counted += 1) if (text[counted] === '\n') line += 1
      return line
    },
  }
  return reader
}

/** Moves past blank lines and comments; false at the end. */
function skipToStatement(reader: Reader): boolean {
  const start = /[^\s]/g
  // More problems are not shown, and what is wrong everywhere is no `.env` file.
  while (reader.invalidLines < limits.problems) {
    start.lastIndex = reader.at
    const found = start.exec(reader.text)
    if (!found) return false
    reader.at = found.index
    reader.lineAt()
    if (found[0] !== '#') return true
    reader.at += takeLine(reader).length
  }
  return false
}

function takeLine({ text, at }: Reader): string {
  const end = text.indexOf('\n', at)
  return text.slice(at, end < 0 ? text.length : end)
}

function readStatement(reader: Reader): void {
  const line = takeLine(reader)
  const [whole, key, separator] = /^(?:export[ \t]+)?([\p{L}\p{N}_.[\]-]+)[ \t]*(=|:|$)/u.exec(line) ?? []
  if (whole === undefined || key === undefined) {
    reportLine(
      reader,
      'A variable is written as NAME=value. Letters, digits, "_", "." and "-" are allowed in its name.',
    )
    reader.at += line.length
    return
  }
  if (separator === '') {
    setValue(reader, key, reader.lookup(key))
    reader.at += line.length
    return
  }
  const rest = line.slice(whole.length)
  const value = rest.trimStart()
  const quote = value[0]
  if (quote === '"' || quote === "'") {
    readQuoted(reader, key, quote, reader.at + line.length - value.length + 1)
    return
  }
  const comment = rest.search(/[ \t]#/)
  setValue(reader, key, insertVariables(reader, (comment < 0 ? rest : rest.slice(0, comment)).trim()))
  reader.at += line.length
}

function readQuoted(reader: Reader, key: string, quote: '"' | "'", start: number): void {
  const end = findClosingQuote(reader.text, start, quote)
  if (end < 0) {
    reportLine(reader, `The value of ${key} has no closing quote. Add ${quote} at its end.`)
    reader.at += takeLine(reader).length
    return
  }
  const inner = reader.text.slice(start, end)
  const value =
    quote === "'" ? inner.replaceAll("\\'", "'") : insertVariables(reader, inner.replace(escapeSequence, expandEscape))
  setValue(reader, key, value)
  reader.at = end + 1
  const rest = takeLine(reader)
  if (!/^\s*(#.*)?$/.test(rest)) reportLine(reader, 'Text follows the closing quote. Put all of the value into quotes.')
  reader.at += rest.length
}

function findClosingQuote(text: string, start: number, quote: string): number {
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === quote) return at
  }
  return -1
}

const escapeSequence = /\\(?:0([0-7]{1,3})|([abfnrtv$"\\]))/g
const letters: Record<string, string> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  // Inserting variables makes one of two.
  $: '$$',
}

const expandEscape = (_: string, octal: string | undefined, letter: string) =>
  octal ? String.fromCharCode(Number.parseInt(octal, 8) % 256) : (letters[letter] ?? letter)

function insertVariables(reader: Reader, text: string): string {
  const { lookup, values } = reader
  const found = substitute(text, (name) => lookup(name) ?? values.get(name))
  for (const name of found.unset) {
    const message = `The variable ${name} is not set, so it is empty here. Set it above this line.`
    reader.problems.warning(getPosition(reader), reader.path, message)
  }
  if (found.problem !== undefined) reportLine(reader, found.problem)
  return found.text
}

function setValue(reader: Reader, key: string, value: string | undefined): void {
  if (value === undefined) return
  reader.budget.addText(key.length + value.length)
  reader.budget.readEnvVariable()
  reader.values.set(key, value)
  if (reader.values.size > limits.variables)
    throw new LimitError(`${reader.file.name} has more than 10,000 variables. Remove those that no service needs.`)
}

const getPosition = (reader: Reader) => ({ file: reader.file.name, line: reader.lineAt(), column: 1 })

function reportLine(reader: Reader, message: string): void {
  reader.invalidLines += 1
  reader.problems.error(getPosition(reader), reader.path, message)
}
