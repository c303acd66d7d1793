import { posix } from 'node:path'
import { listImports, projectFiles } from './repository.ts'

export interface Arrow {
  from: string
  /** A path of the repository, or a module name. */
  to: string
  typeOnly: boolean
}

/** The imports of production code, types included. */
export function productionImports(): Arrow[] {
  return projectFiles(/^(apps|packages)\/[^/]+\/src\/.*\.tsx?$/)
    .filter(({ path }) => !/\.test\.tsx?$|\/test\//.test(path))
    .flatMap(({ path, text }) =>
      listImports(text).map(({ specifier, typeOnly }) => ({
        from: path,
        to: specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier,
        typeOnly,
      })),
    )
}

export function fileCircles(arrows: readonly Arrow[]): string[][] {
  return findCircles(toGraph(arrows.map(({ from, to }) => [from, to])))
}

/** Directories that import each other in a circle. A directory and those inside of it are one for this purpose. */
export function directoryCircles(arrows: readonly Arrow[]): string[][] {
  const isInside = (path: string, directory: string) => path === directory || path.startsWith(`${directory}/`)
  return findCircles(
    toGraph(
      arrows
        .map(({ from, to }): [string, string] => [posix.dirname(from), posix.dirname(to)])
        .filter(([from, to]) => !isInside(from, to) && !isInside(to, from)),
    ),
  )
}

function toGraph(pairs: readonly (readonly [string, string])[]): Map<string, string[]> {
  const graph = new Map<string, string[]>()
  for (const [from, to] of pairs) if (/^(apps|packages)\//.test(to)) graph.set(from, [...(graph.get(from) ?? []), to])
  return graph
}

/** Groups of nodes of which each reaches all others (strongly connected components, by Tarjan), sorted. */
export function findCircles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const circles: string[][] = []
  const visit = (file: string): number => {
    const number = order.size
    order.set(file, number)
    lowest.set(file, number)
    open.push(file)
    for (const to of imports.get(file) ?? []) {
      const reached = order.has(to) ? (open.includes(to) ? order.get(to) : undefined) : visit(to)
      if (reached !== undefined) lowest.set(file, Math.min(lowest.get(file) ?? number, reached))
    }
    if (lowest.get(file) === number) {
      const members = open.splice(open.indexOf(file))
      if (members.length > 1) circles.push(members.sort())
    }
    return lowest.get(file) ?? number
  }
  for (const file of imports.keys()) if (!order.has(file)) visit(file)
  return circles
}
