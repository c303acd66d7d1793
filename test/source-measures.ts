import { type Node, parseSync, visitorKeys } from 'oxc-parser'
import { projectFiles, type SourceFile } from './repository.ts'

/** Counts of the sources. `npm run measure` prints them, and measure.test.ts checks those that have a bound. */

export interface MeasuredFunction {
  path: string
  line: number
  /** The name of its declaration, property or variable, else that of the function around it. */
  name: string
  lines: number
}

interface FileMeasures {
  /** Lines of type assertions (`x as T`); `as const` is none. */
  casts: number[]
  functions: MeasuredFunction[]
  /** Functions with a capital letter that contain JSX. */
  components: MeasuredFunction[]
}

/** Outside of components, comments and signature included. */
export const functionLinesMax = 80
export const componentLinesMax = 150

const sources = /^(apps|packages|e2e|bench|scripts|test)\/.*\.(tsx?|mjs|js|css|proto)$/
const generated = /\/generated\/|\.gen\.ts$/
const tests = /\.(test|spec)\.tsx?$|(^|\/)test\/|^e2e\/|^packages\/test-kit\//

/** The sources that people write, without the output of generators. */
export const writtenFiles = (): SourceFile[] => projectFiles(sources).filter(({ path }) => !generated.test(path))

export const isTestCode = (path: string) => tests.test(path)

/** `apps/server`, `packages/rules`, `scripts` ... */
export function getWorkspace(path: string): string {
  const [first = '', second = ''] = path.split('/')
  return first === 'apps' || first === 'packages' ? `${first}/${second}` : first
}

export function countLines({ text }: SourceFile): number {
  return text.trimEnd().split('\n').length
}

export function measureFile({ path, text }: SourceFile): FileMeasures {
  const measures: FileMeasures = { casts: [], functions: [], components: [] }
  if (!/\.(tsx?|mjs|js)$/.test(path)) return measures
  const starts = [...text.matchAll(/^/gm)].map(({ index }) => index)
  const toLine = (offset: number) => starts.findLastIndex((start) => start <= offset) + 1
  const functions: { node: Node; name: string }[] = []
  const withJsx = new Set<Node>()
  walk(parseSync(path, text).program, [], (node, parents) => {
    if (isCast(node)) measures.casts.push(toLine(node.start))
    if (/Function/.test(node.type) && 'body' in node && node.body)
      functions.push({ node, name: getName([...parents, node]) })
    if (node.type === 'JSXElement' || node.type === 'JSXFragment') for (const parent of parents) withJsx.add(parent)
  })
  for (const { node, name } of functions) {
    const line = toLine(node.start)
    const kind = withJsx.has(node) && /^[A-Z]/.test(name) ? 'components' : 'functions'
    measures[kind].push({ path, line, name, lines: toLine(node.end) - line + 1 })
  }
  return measures
}

function isCast(node: Node): boolean {
  if (node.type !== 'TSAsExpression') return node.type === 'TSTypeAssertion'
  const type = node.typeAnnotation
  return !(type.type === 'TSTypeReference' && type.typeName.type === 'Identifier' && type.typeName.name === 'const')
}

function getName(path: readonly Node[]): string {
  let suffix = ''
  for (const node of path.toReversed()) {
    // A function that is an argument or a result belongs to the function around it.
    if (/Function/.test(node.type) && node !== path.at(-1)) suffix = ' (inner)'
    const owner =
      node.type === 'FunctionDeclaration' || node.type === 'VariableDeclarator'
        ? node.id
        : node.type === 'Property' || node.type === 'MethodDefinition'
          ? node.key
          : undefined
    if (owner?.type === 'Identifier') return `${owner.name}${suffix}`
  }
  return 'anonymous'
}

function walk(node: Node, parents: readonly Node[], visit: (node: Node, parents: readonly Node[]) => void): void {
  visit(node, parents)
  const inner = [...parents, node]
  for (const key of visitorKeys[node.type] ?? []) {
    const child: unknown = Reflect.get(node, key)
    for (const each of Array.isArray(child) ? child : [child]) if (isNode(each)) walk(each, inner, visit)
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}
