import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { importsOf, projectFiles } from './repository.ts'

// Checks the import directions of docs/architecture.md. Tests and their kits may import more than production code.

interface Arrow {
  from: string
  to: string
  typeOnly: boolean
}

const arrows: Arrow[] = projectFiles(/^(apps|packages)\/[^/]+\/src\/.*\.tsx?$/)
  .filter(({ path }) => !/\.test\.tsx?$|\/test\//.test(path))
  .flatMap(({ path, text }) =>
    importsOf(text).map(({ specifier, typeOnly }) => ({
      from: path,
      to: specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier,
      typeOnly,
    })),
  )

const offenders = (forbidden: (arrow: Arrow) => boolean) =>
  arrows.filter(forbidden).map(({ from, to }) => `${from} -> ${to}`)
const apps = ['console', 'server', 'identity', 'agent']

test('the search for imports finds imports', () => {
  expect(arrows.length).toBeGreaterThan(100)
})

test('the contract imports only zod', () => {
  expect(
    offenders(
      ({ from, to }) => from.startsWith('packages/contract/') && to !== 'zod' && !to.startsWith('packages/contract/'),
    ),
  ).toEqual([])
})

test('rules import only the contract, and do no I/O', () => {
  const allowed = (to: string) =>
    to.startsWith('packages/rules/') || to === '@crux/contract' || !/^(@crux\/|node:|packages\/|apps\/)/.test(to)
  expect(offenders(({ from, to }) => from.startsWith('packages/rules/') && !allowed(to))).toEqual([])
})

test('the config editor imports only the contract and the rules: no React, no browser, no app', () => {
  const allowed = (to: string) => /^(packages\/config-editor\/|@crux\/(contract|rules)$)/.test(to)
  expect(offenders(({ from, to }) => from.startsWith('packages/config-editor/') && !allowed(to))).toEqual([])
})

test('apps never import apps, and packages never import apps', () => {
  const appOf = (path: string) =>
    apps.find((app) => path.startsWith(`apps/${app}/`) || path === `@crux/${app}` || path.startsWith(`@crux/${app}/`))
  expect(offenders(({ from, to }) => appOf(to) !== undefined && appOf(to) !== appOf(from))).toEqual([])
})

test('no package imports another package past its index', () => {
  expect(offenders(({ to }) => /^@crux\/[^/]+\/(src|test)\//.test(to))).toEqual([])
  const home = (path: string) => path.split('/').slice(0, 2).join('/')
  expect(offenders(({ from, to }) => /^(apps|packages)\//.test(to) && home(from) !== home(to))).toEqual([])
})

test('console and agent do not import the database', () => {
  expect(
    offenders(
      ({ from, to }) => /^apps\/(console|agent)\//.test(from) && /^(@crux\/postgres|pg|drizzle-orm)(\/|$)/.test(to),
    ),
  ).toEqual([])
})

test('inside the server, stores import no actions, and neither imports routes', () => {
  const fileOf = (path: string) => posix.basename(path, '.ts')
  const order = ['store', 'actions', 'routes']
  const within = ({ from, to }: Arrow) =>
    from.startsWith('apps/server/src/') &&
    to.startsWith('apps/server/src/') &&
    posix.dirname(from) === posix.dirname(to)
  expect(
    offenders((arrow) => {
      const [source, target] = [order.indexOf(fileOf(arrow.from)), order.indexOf(fileOf(arrow.to))]
      return within(arrow) && !arrow.typeOnly && source >= 0 && target > source
    }),
  ).toEqual([])
})

test('only the drivers of the agent import the libraries of the engines', () => {
  const engine = /^(dockerode|@kubernetes\/client-node)(\/|$)/
  expect(
    offenders(({ from, to }) => engine.test(to) && !from.startsWith('apps/agent/src/engines/docker/client/')),
  ).toEqual([])
})

test('the plan of a deployment is pure: no engine, no files, no network', () => {
  expect(
    offenders(
      ({ from, to, typeOnly }) =>
        from.startsWith('apps/agent/src/engines/docker/plan/') &&
        !typeOnly &&
        (/^node:(?!crypto|path)/.test(to) || /^(dockerode|@connectrpc|@kubernetes)/.test(to)),
    ),
  ).toEqual([])
})

test('a domain of the server is reached through its index.ts only', () => {
  const domainOf = (path: string) => /^apps\/server\/src\/([^/]+)\//.exec(path)?.[1]
  // Every store uses the schema and the transactions in db/, which are no domain.
  const isInside = (path: string) => {
    const domain = domainOf(path)
    return domain !== undefined && domain !== 'db' && path !== `apps/server/src/${domain}/index.ts`
  }
  expect(
    offenders(({ from, to }) => from.startsWith('apps/server/src/') && isInside(to) && domainOf(from) !== domainOf(to)),
  ).toEqual([])
  expect(
    offenders(({ from, to }) => to.endsWith('/index.ts') && domainOf(from) === domainOf(to) && isInside(from)),
  ).toEqual([])
})

test('no files import each other in a circle, types included', () => {
  expect(circlesOf(importsBy((path) => path))).toEqual([])
  expect(
    circlesOf(
      new Map([
        ['a', ['b']],
        ['b', ['c']],
        ['c', ['b']],
      ]),
    ),
  ).toEqual([['b', 'c']])
})

test('the flows of the identity service import no method', () => {
  expect(offenders(({ from, to }) => /^apps\/identity\/src\/flows\//.test(from) && to.includes('/methods/'))).toEqual(
    [],
  )
})

/** Workspaces whose directories still import each other; an entry goes as soon as its workspace has no ring. */
const workspacesWithRings = ['apps/agent']

test('no directories of a workspace import each other in a circle, types included', () => {
  // A file that lies directly in `src` composes directories, so that it counts for itself.
  const directoryOf = (path: string) => {
    const [kind, workspace, source, ...rest] = path.split('/')
    return rest.length > 1 ? [kind, workspace, source, rest[0]].join('/') : path
  }
  const isExempt = (ring: readonly string[]) => workspacesWithRings.some((name) => ring[0]?.startsWith(`${name}/`))
  expect(circlesOf(importsBy(directoryOf)).filter((ring) => !isExempt(ring))).toEqual([])
})

test('no directories of the console import each other in a circle at any depth', () => {
  const rings = circlesOf(importsBy(posix.dirname))
  expect(rings.filter(([first]) => first?.startsWith('apps/console/'))).toEqual([])
})

/** What imports what, by the name of each file's group. */
function importsBy(groupOf: (path: string) => string): Map<string, string[]> {
  const imports = new Map<string, string[]>()
  for (const { from, to } of arrows) {
    if (!to.startsWith('apps/') && !to.startsWith('packages/')) continue
    const [source, target] = [groupOf(from), groupOf(to)]
    if (source !== target) imports.set(source, [...(imports.get(source) ?? []), target])
  }
  return imports
}

/** Groups of files of which each reaches all others (strongly connected components, by Tarjan), sorted. */
function circlesOf(imports: ReadonlyMap<string, readonly string[]>): string[][] {
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
