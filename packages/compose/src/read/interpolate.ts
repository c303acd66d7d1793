import { type CastRules, castRules, castText, getChildRules } from './casts.ts'
import type { Budget } from './limits.ts'
import { type ComposeNode, createList, createMap, createScalar, type Entry, type ScalarNode } from './nodes.ts'
import type { ProblemList } from './problems.ts'
import { type Lookup, substitute } from './substitute.ts'

type Tools = { lookup: Lookup; budget: Budget; problems: ProblemList }
type Path = (string | number)[]

/**
 * The same file with its variables inserted into values, never into keys. A variable that is not set becomes empty text and a warning, as in Docker
 * Compose. Text becomes a boolean or a number where the setting is one.
 */
export function interpolate(root: ComposeNode, tools: Tools): ComposeNode {
  return interpolateNode(root, [], castRules, tools)
}

function interpolateNode(node: ComposeNode, path: Path, rules: CastRules | undefined, tools: Tools): ComposeNode {
  tools.budget.createNodes(1)
  if (node.kind === 'scalar') return interpolateScalar(node, path, rules, tools)
  if (node.kind === 'list') {
    const items = node.items.map((item, index) =>
      interpolateNode(item, [...path, index], getChildRules(rules, index), tools),
    )
    return createList(node.position, items, node.tag)
  }
  const entries = new Map<string, Entry>()
  for (const [key, entry] of node.entries) {
    const value = interpolateNode(entry.node, [...path, key], getChildRules(rules, key), tools)
    entries.set(key, { keyPosition: entry.keyPosition, node: value })
  }
  return createMap(node.position, entries, node.tag)
}

function interpolateScalar(node: ScalarNode, path: Path, rules: CastRules | undefined, tools: Tools): ComposeNode {
  if (typeof node.value !== 'string') return node
  const { text, unset, problem } = substitute(node.value, tools.lookup)
  for (const name of unset)
    tools.problems.warning(
      node.position,
      path,
      `The variable ${name} is not set, so it is empty here. Set it in the default .env file, or write \${${name}:-} if it may be empty.`,
    )
  if (problem !== undefined) {
    tools.problems.error(node.position, path, problem)
    // The text stays, so that the schema does not report the same value again.
    return node
  }
  tools.budget.addText(text.length)
  const cast = rules?.cast
  const value = cast ? castText(text, cast) : text
  if (value === undefined) {
    const expected = cast === 'boolean' ? 'true or false' : 'a number'
    tools.problems.error(node.position, path, `"${path.at(-1)}" must be ${expected}, and here it is "${text}".`)
    // The text stays, so that the schema does not report the same value again.
    return node
  }
  return value === node.value ? node : createScalar(node.position, value, node.tag)
}
