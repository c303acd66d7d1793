import { AsyncLocalStorage } from 'node:async_hooks'
import { Server } from 'node:http'
import { contract, type Operation } from '@crux/contract'
import type { ClientBase, Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer } from './kit/index.ts'
import { fillDatabase, rowsPerTable } from './kit/large-database.ts'
import { toPath } from './kit/requests.ts'
import { makeTestEnvironment, type TestEnvironment } from './kit/test-environment.ts'

type Plan = {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  Plans?: Plan[]
}
type Asked = { text: string; values: unknown[] }

let crux: TestServer
let ada: Someone
let testEnvironment: TestEnvironment
let asked: Asked[] | undefined
/** Tables where a scan would be slow: every one that grows. */
let large: Set<string>
let stopRecording: (() => void) | undefined

beforeAll(async () => {
  crux = await startTestServer()
  ada = crux.signUp()
  testEnvironment = await makeTestEnvironment(crux, ada)
  large = await fillDatabase(crux.app.database.pool, testEnvironment)
  stopRecording = await recordQueries(crux.app.database.pool, (query) => asked?.push(query))
}, 600_000)
afterAll(async () => {
  stopRecording?.()
  await crux.stop()
})

/** More than a page of the longest list; ada's team has a history that is twenty times as long. */
const sortedMax = 1_000

/** Operations that query an agent: none is connected here, which is reported after the database was read. */
const ofAgents: Partial<Record<Operation, number>> = {
  'nodes.images': 404,
  'nodes.machines': 412,
  'prefix-data.get': 412,
  'deployments.secrets': 412,
  'deployments.instance-secrets': 412,
}
/** Their response is the same for everyone: it is not in the database. */
const constant: ReadonlySet<Operation> = new Set([
  'quality-assurance.get',
  'nodes.local-agent',
  'templates.list',
  'templates.image',
])
const reads = (Object.keys(contract) as Operation[]).filter((operation) => {
  const { method, permission } = contract[operation]
  return (
    method === 'GET' &&
    permission !== 'public' &&
    permission !== 'install-token' &&
    !operation.startsWith('containers.') &&
    !constant.has(operation)
  )
})
describe(`with ${rowsPerTable} rows in every table`, () => {
  it.each(reads)('%s reads by indexes only', async (operation) => {
    asked = []
    const answer = await crux.request(toPath(operation, testEnvironment), { as: ada })
    await answer.arrayBuffer()
    const statements = asked
    asked = undefined
    expect(answer.status).toBe(ofAgents[operation] ?? 200)
    expect(statements.length).toBeGreaterThan(0)
    for (const { text, values } of statements) {
      const plan = await explain(text, values)
      const scanned = plan.filter((node) => node['Node Type'] === 'Seq Scan')
      expect([scanned.map((node) => node['Relation Name']).filter((name) => large.has(name ?? '')), text]).toEqual([
        [],
        text,
      ])
      const sortedRows = plan
        .filter((node) => node['Node Type'].endsWith('Sort'))
        .map(({ Plans = [] }) => Plans.reduce((sum, node) => sum + node['Actual Rows'] * node['Actual Loops'], 0))
      expect([sortedRows.filter((rows) => rows > sortedMax), text]).toEqual([[], text])
      // No index has the few teams of one user together.
      if (!operation.endsWith('.list') || operation === 'teams.list') continue
      // Twenty rows are sorted faster than they are read in order; the test only checks that an index has the order.
      const sorted = (await explain(text, values, 'set local enable_sort = off')).filter(
        (node) => node['Node Type'] === 'Sort',
      )
      expect([sorted.length, text]).toEqual([0, text])
    }
  })
})

describe('the audit log with a filter', () => {
  it.each(['&accepted=false', '&filter=unusual', '&filter=e', '&filter=unusual&accepted=true'])(
    'is read by indexes only: %s',
    async (filter) => {
      for (const operation of ['audit-log.list', 'audit-log.export-ndjson'] as const) {
        asked = []
        await (await crux.request(toPath(operation, testEnvironment) + filter, { as: ada })).arrayBuffer()
        const statements = asked.filter(({ text }) => text.includes('crux.audit_log'))
        asked = undefined
        expect(statements.length).toBeGreaterThan(0)
        for (const { text, values } of statements)
          expect([(await explain(text, values)).map((node) => node['Node Type']), text]).toEqual([
            expect.not.arrayContaining(['Seq Scan']),
            text,
          ])
      }
    },
  )
})

/**
 * Records every reading statement of the requests to this process, including those within transactions. Leases, presence, deliveries and jobs run
 * statements of their own at the same time.
 */
async function recordQueries(pool: Pool, heard: (query: Asked) => void): Promise<() => void> {
  const requests = new AsyncLocalStorage<true>()
  const emit = Server.prototype.emit
  Server.prototype.emit = function (this: Server, ...args: unknown[]) {
    const handle = () => (emit as (...args: unknown[]) => boolean).apply(this, args)
    return args[0] === 'request' ? requests.run(true, handle) : handle()
  } as typeof emit
  const client = await pool.connect()
  const prototype = Object.getPrototypeOf(client) as ClientBase
  client.release()
  const query = prototype.query as (this: ClientBase, ...args: unknown[]) => unknown
  prototype.query = function (this: ClientBase, config: string | Asked, ...rest: unknown[]) {
    const text = typeof config === 'string' ? config : config.text
    const [values] = rest
    if (requests.getStore() && /^\s*(select|with)\b/i.test(text))
      heard({
        text,
        values: Array.isArray(values) ? values : ((typeof config === 'string' ? [] : config.values) ?? []),
      })
    return query.call(this, config, ...rest)
  } as typeof prototype.query
  return () => {
    Server.prototype.emit = emit
    prototype.query = query as typeof prototype.query
  }
}

async function explain(text: string, values: unknown[], setting = 'select 1'): Promise<Plan[]> {
  const client = await crux.app.database.pool.connect()
  try {
    await client.query('begin')
    await client.query(setting)
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
      `explain (analyze, format json) ${text}`,
      values,
    )
    return flatten(rows[0]?.['QUERY PLAN'][0]?.Plan)
  } finally {
    await client.query('rollback')
    client.release()
  }
}

const flatten = (plan: Plan | undefined): Plan[] => (plan ? [plan, ...(plan.Plans ?? []).flatMap(flatten)] : [])
