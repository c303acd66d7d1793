import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { type Arrow, fileCircles, findCircles, productionImports } from './import-circles.ts'
import { projectFiles, type SourceFile } from './repository.ts'

// Checks the import directions of docs/architecture.md. Tests and their kits may import more than production code.

const arrows = productionImports()

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

test('the reader of compose files imports only the contract, the rules and yaml: it runs in a worker and on the server', () => {
  const allowed = (to: string) => /^(packages\/compose\/|@crux\/(contract|rules)$|yaml$)/.test(to)
  const isScript = (from: string) => from.startsWith('packages/compose/scripts/')
  expect(offenders(({ from, to }) => from.startsWith('packages/compose/') && !isScript(from) && !allowed(to))).toEqual(
    [],
  )
})

test('apps never import apps, and packages never import apps', () => {
  const getApp = (path: string) =>
    apps.find((app) => path.startsWith(`apps/${app}/`) || path === `@crux/${app}` || path.startsWith(`@crux/${app}/`))
  expect(offenders(({ from, to }) => getApp(to) !== undefined && getApp(to) !== getApp(from))).toEqual([])
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
  const getFile = (path: string) => posix.basename(path, '.ts')
  const order = ['store', 'actions', 'routes']
  const within = ({ from, to }: Arrow) =>
    from.startsWith('apps/server/src/') &&
    to.startsWith('apps/server/src/') &&
    posix.dirname(from) === posix.dirname(to)
  expect(
    offenders((arrow) => {
      const [source, target] = [order.indexOf(getFile(arrow.from)), order.indexOf(getFile(arrow.to))]
      return within(arrow) && !arrow.typeOnly && source >= 0 && target > source
    }),
  ).toEqual([])
})

test('inside the server, only stores have SQL', () => {
  const exceptions = [
    // Sends the statements of the job library and of the bus, which belong to no domain.
    'apps/server/src/bus/postgres-bus.ts',
    'apps/server/src/jobs/jobs.ts',
    // Changes every encrypted column of the schema, whichever domain it belongs to.
    'apps/server/src/reseal-secrets.ts',
  ]
  const hasSql = ({ text }: SourceFile) => /\bsql`|\.query\b[<(]|from 'drizzle-orm|\.database\.db\b/.test(text)
  const files = projectFiles(/^apps\/server\/src\/(?!db\/).*(?<!\.test)\.ts$/).filter(hasSql)
  const stores = files.filter(({ path }) => path.endsWith('store.ts'))
  expect(stores.length).toBeGreaterThan(10)
  expect(files.filter((file) => !stores.includes(file)).map(({ path }) => path)).toEqual(exceptions)
})

test('only the drivers of the agent import the libraries of the engines', () => {
  const allowed = (from: string, to: string) =>
    (/^dockerode(\/|$)/.test(to) && from.startsWith('apps/agent/src/engines/docker/client/')) ||
    (/^@kubernetes\//.test(to) && from.startsWith('apps/agent/src/engines/kubernetes/client/'))
  const engine = /^(dockerode(\/|$)|@kubernetes\/)/
  expect(offenders(({ from, to }) => engine.test(to) && !allowed(from, to))).toEqual([])
})

test('the library of Kubernetes is loaded only when a cluster is opened: it would cost an agent on Docker 50 MB', () => {
  const files = projectFiles(/^apps\/agent\/src\/.*\.ts$/)
  const mentions = files.flatMap(({ path, text }) =>
    [...text.matchAll(/^.*['"]@kubernetes\/.*$/gm)].map(([line]) => ({ path, line })),
  )
  expect(mentions.length).toBeGreaterThan(0)
  expect(mentions.filter(({ line }) => !/await import\(/.test(line) && !/^import type /.test(line))).toEqual([])
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

test("the core of the agent knows its engine by an interface: only agent.ts imports Docker's code, by its one door", () => {
  const docker = 'apps/agent/src/engines/docker/'
  const above = ({ from, to }: Arrow) =>
    from.startsWith('apps/agent/') && !from.startsWith(docker) && (to.startsWith(docker) || /^dockerode/.test(to))
  expect(offenders(above)).toEqual([`apps/agent/src/agent.ts -> ${docker}docker-engine.ts`])
})

test('a domain of the server is reached through its index.ts only', () => {
  const getDomain = (path: string) => /^apps\/server\/src\/([^/]+)\//.exec(path)?.[1]
  // Every store uses the schema and the transactions in db/, which are no domain.
  const isInside = (path: string) => {
    const domain = getDomain(path)
    return domain !== undefined && domain !== 'db' && path !== `apps/server/src/${domain}/index.ts`
  }
  expect(
    offenders(
      ({ from, to }) => from.startsWith('apps/server/src/') && isInside(to) && getDomain(from) !== getDomain(to),
    ),
  ).toEqual([])
  expect(
    offenders(({ from, to }) => to.endsWith('/index.ts') && getDomain(from) === getDomain(to) && isInside(from)),
  ).toEqual([])
})

test('no files import each other in a circle, types included', () => {
  expect(fileCircles(arrows)).toEqual([])
  expect(
    findCircles(
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
