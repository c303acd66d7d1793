import { Composer, type CST, type Document, Lexer, LineCounter, Parser, type YAMLError } from 'yaml'
import type { SourceFile, SourcePosition } from '../model.ts'
import { buildNodes } from './build-nodes.ts'
import { type Budget, LimitError, limits } from './limits.ts'
import type { ComposeNode } from './nodes.ts'
import type { ProblemList } from './problems.ts'

/**
 * Reads one YAML document. Returns undefined for an empty file, and for an invalid one, which is then a problem.
 *
 * @throws LimitError for input that is too large, before work that would take long
 */
export function parseYaml(file: SourceFile, budget: Budget, problems: ProblemList): ComposeNode | undefined {
  const lines = new LineCounter()
  const toPosition = (offset: number): SourcePosition => {
    const { line, col } = lines.linePos(offset)
    // The library counts lines from 1, and answers 0 for an empty file.
    return { file: file.name, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const fail = (offset: number, message: string) => {
    problems.error(toPosition(offset), [], message)
    return undefined
  }
  const tokens = readTokens(file.text, lines, budget)
  if ('tooDeep' in tokens)
    return fail(tokens.tooDeep, `Values are nested more than ${limits.depth} levels deep. Nest them less.`)
  const documents = tokens.list.filter(({ type }) => type === 'document')
  const second = documents[1]
  if (second)
    return fail(second.offset, 'A compose file has one YAML document. Put what follows "---" into a file of its own.')
  const composed = composeDocument(tokens.list, file.text.length)
  if (!composed) return undefined
  if (composed.errors.length > 0) {
    for (const error of composed.errors.slice(0, 5))
      problems.error(toPosition(error.pos[0]), [], describeSyntaxError(error))
    return undefined
  }
  return buildNodes(composed.contents, { toPosition, budget, problems })
}

/** Lexes and parses step by step, so that it can end at a limit. */
function readTokens(text: string, lines: LineCounter, budget: Budget): { list: CST.Token[] } | { tooDeep: number } {
  const parser = new Parser(lines.addNewLine)
  const list: CST.Token[] = []
  lines.addNewLine(0)
  for (const lexeme of new Lexer().lex(text)) {
    budget.readLexeme()
    for (const token of parser.next(lexeme)) list.push(token)
    if (list.length > limits.outerTokens)
      throw new LimitError(
        `More than ${limits.outerTokens.toLocaleString('en')} comments or other parts are outside of the document. Remove them.`,
      )
    // The document itself is the first on the stack.
    if (parser.stack.length > limits.depth + 1) return { tooDeep: parser.offset }
  }
  for (const token of parser.end()) list.push(token)
  return { list }
}

function composeDocument(tokens: CST.Token[], length: number): Document.Parsed | undefined {
  const composer = new Composer({
    // Scalars are resolved by resolve-scalar.ts, and duplicate keys are found in build-nodes.ts in linear time.
    schema: 'failsafe',
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  })
  for (const document of composer.compose(tokens, false, length)) return document
  return undefined
}

function describeSyntaxError({ code, message }: YAMLError): string {
  const advice = syntaxAdvice[code]
  if (code === 'RESOURCE_EXHAUSTION') throw new LimitError('The file is nested too deep. Nest its values less.')
  return advice ?? `This is not valid YAML: ${message.replace(/\.$/, '')}.`
}

const syntaxAdvice: Partial<Record<YAMLError['code'], string>> = {
  TAB_AS_INDENT: 'YAML is indented with spaces. Replace the tab by spaces.',
  BAD_INDENT: 'The indentation does not fit the lines above. Indent keys of one mapping by the same number of spaces.',
  MULTILINE_IMPLICIT_KEY:
    'A key must be on one line and end with a colon. Check the quotes and the colon of this line.',
  BLOCK_AS_IMPLICIT_KEY: 'A value follows where a key was expected. Put quotes around text that contains ": ".',
  BAD_SCALAR_START: 'Text cannot begin with this character. Put quotes around the value.',
  BAD_DQ_ESCAPE: 'This escape is unknown in double quotes. Use single quotes, or write \\\\ for a backslash.',
  BAD_ALIAS: 'An alias needs the name of an anchor: "*name".',
  KEY_OVER_1024_CHARS: 'A key has at most 1,024 characters. Put a colon and a space after the key.',
  MULTIPLE_ANCHORS: 'A value has at most one anchor. Remove one of them.',
  MULTIPLE_TAGS: 'A value has at most one tag. Remove one of them.',
}
