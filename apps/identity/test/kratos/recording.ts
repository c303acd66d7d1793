import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The observations: by scenario, by step. */
export type Recording = Record<string, Record<string, unknown>>

const file = join(import.meta.dirname, 'generated/recording.json')

/** Nodes of forms are most of the content, and few are different: each is stored once, under a name that is derived from its content. */
interface Packed {
  nodes: Record<string, unknown>
  answers: Recording
}

export function readRecording(): Recording {
  const { nodes, answers } = JSON.parse(readFileSync(file, 'utf8')) as Packed
  return withNodes(answers, (named) => nodes[String(named)]) as Recording
}

/** One line per node and per answer, so that a diff shows the changed ones. */
export function writeRecording(recording: Recording): void {
  const nodes = new Map<string, unknown>()
  const answers = withNodes(recording, (node) => {
    const name = createHash('sha256').update(JSON.stringify(node)).digest('hex').slice(0, 8)
    nodes.set(name, node)
    return name
  }) as Recording
  const scenarios = Object.entries(answers).map(
    ([name, steps]) => `${JSON.stringify(name)}: ${lines(Object.entries(steps))}`,
  )
  const sorted = [...nodes].sort(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(file, `{\n"nodes": ${lines(sorted)},\n"answers": {\n${scenarios.join(',\n')}\n}\n}\n`)
}

function lines(entries: [string, unknown][]): string {
  return `{\n${entries.map(([name, value]) => ` ${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(',\n')}\n}`
}

/** Applies `change` to every node of every form in a value. */
function withNodes(value: unknown, change: (node: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => withNodes(entry, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === 'nodes' && typeof inner === 'object' && inner !== null
        ? Object.fromEntries(Object.entries(inner).map(([key, node]) => [key, change(node)]))
        : withNodes(inner, change),
    ]),
  )
}
