import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What was seen: by scenario, by step. */
export type Recording = Record<string, Record<string, unknown>>

const file = join(import.meta.dirname, 'generated/recording.json')

/** Nodes of forms are the bulk of all answers and few: each is kept once, under a name that follows from it. */
interface Packed {
  nodes: Record<string, unknown>
  answers: Recording
}

export function readRecording(): Recording {
  const { nodes, answers } = JSON.parse(readFileSync(file, 'utf8')) as Packed
  return withNodes(answers, (named) => nodes[String(named)]) as Recording
}

/** A line per node and per answer, so that a changed one shows in a diff. */
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

/** Every node of every form in a value, changed. */
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
