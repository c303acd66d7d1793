import { spawn } from 'node:child_process'
import { Agent, request } from 'node:http'
import { createDeployment, createService, createTeam, idle, unique, waitFor } from '@crux/test-kit'
import pg from 'pg'
import { listSql } from '../../apps/server/src/deployments/list-store.ts'
import { interleave, type Report, type Target } from './measure.ts'
import type { TestSystem } from './test-system.ts'

const rows = 100_000
const lanes = 8
const bareLanes = 16
const sliceMs = 3_000

/** `GET deployments` (50 of 100,000) against the statement that it runs, through pg alone, with as many connections. */
export async function deploymentList(testSystem: TestSystem, report: Report): Promise<void> {
  const { testEnvironment, system } = testSystem
  await testEnvironment.registry.push('bench/list', '1', idle())
  const service = await createService(testEnvironment, [{ name: 'bench/list', tag: '1' }])
  const seed = await createDeployment(testEnvironment, service, unique('s'))
  const pool = new pg.Pool({ connectionString: system.databaseUrl, max: lanes })
  await pool.query(
    `insert into crux.deployment (team_id, project_id, version_id, node_id, prefix, status, created_by, updated_by, created_at)
     select team_id, project_id, version_id, node_id, 'p' || n, (array['successful', 'failed', 'obsolete'])[1 + n % 3], created_by, updated_by, now() - n * interval '1 second'
     from crux.deployment, generate_series(1, ${rows}) n where id = $1`,
    [seed.id],
  )
  await pool.query('analyze crux.deployment')
  const own = testEnvironment.user.headers()
  const query = listSql(testEnvironment.teamId, { skip: 0, take: 50 }).config('bench')
  const sides = await interleave(4, {
    ours: () =>
      requestsPerSecond(`${system.url}/api/${testEnvironment.teamSlug}/deployments?skip=0&take=50`, own, lanes),
    theirs: () => perSecond(lanes, async () => JSON.stringify((await pool.query(query)).rows)),
  })
  await pool.query("delete from crux.deployment where prefix ~ '^p[0-9]+$' and team_id = $1", [testEnvironment.teamId])
  await pool.end()
  report.ratio('GET deployments (50 of 100,000) / the same SQL through pg', sides, '>= 0.6', 'requests/s')
}

/**
 * An authenticated list against a bare Node server that answers the same bytes, over as many connections: by session cookie, by API token,
 * and, for information, with a team per connection, where no two requests can share a query.
 */
export async function bareServer(testSystem: TestSystem, report: Report): Promise<void> {
  const { testEnvironment, system } = testSystem
  const { client, sessionToken } = testEnvironment.user
  const url = listUrl(system.url, testEnvironment.teamSlug)
  const cookie = { cookie: `ory_kratos_session=${sessionToken}` }
  const created = await client.call('tokens.create', {
    body: { name: unique('bench-'), expirationInDays: 1, scope: 'read' },
  })
  const token = { authorization: `Bearer ${created.token}` }
  const body = await readBody(url, cookie)
  if ((await readBody(url, token)) !== body) throw new Error('cookie and token get different lists')
  const teamUrls: string[] = []
  for (let lane = 0; lane < bareLanes; lane++) {
    const { teamSlug } = await createTeam(testEnvironment.user)
    await client.call('nodes.create', { params: { teamSlug }, body: { name: unique('node-') } })
    teamUrls.push(listUrl(system.url, teamSlug))
  }
  const bare = await startBareServer(body)
  const taken = await interleave(6, {
    cookie: () => requestsPerSecond(url, cookie, bareLanes),
    token: () => requestsPerSecond(url, token, bareLanes),
    teams: async () => {
      const rates = await Promise.all(teamUrls.map((teamUrl) => requestsPerSecond(teamUrl, token, 1)))
      return rates.reduce((sum, rate) => sum + rate)
    },
    bare: () => requestsPerSecond(bare.url, {}, bareLanes),
  })
  bare.stop()
  await client.call('tokens.delete', { params: { tokenId: created.id } })
  const compare = (name: string, ours: number[], target?: Target) =>
    report.ratio(
      `list ${name} / bare Node server, same bytes`,
      { ours, theirs: taken.bare },
      target,
      'requests/s',
      `${body.length} bytes, ${bareLanes} connections`,
    )
  compare('by session cookie', taken.cookie, '>= 0.4')
  compare('by API token', taken.token, '>= 0.4')
  compare('of a team per connection', taken.teams)
}

const listUrl = (base: string, teamSlug: string) => `${base}/api/${teamSlug}/nodes`

async function readBody(url: string, headers: Record<string, string>): Promise<string> {
  const response = await fetch(url, { headers })
  if (!response.ok) throw new Error(`${url}: ${response.status}`)
  return response.text()
}

/** A process that answers every request with `body` and does nothing else. */
async function startBareServer(body: string): Promise<{ url: string; stop: () => void }> {
  const child = spawn(
    process.execPath,
    [
      '-e',
      `const b=Buffer.from(process.argv[1]);require('http').createServer((q,r)=>{r.writeHead(200,{'content-type':'application/json; charset=utf-8','content-length':b.length});r.end(b)}).listen(0,'127.0.0.1',function(){console.log(this.address().port)})`,
      body,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let port = ''
  child.stdout.on('data', (part) => {
    port += part
  })
  await waitFor('the bare server listens', () => port.endsWith('\n'))
  return { url: `http://127.0.0.1:${port.trim()}/`, stop: () => void child.kill() }
}

/** Requests per second of `lanes` keep-alive connections that send the next request after each answer. */
async function requestsPerSecond(url: string, headers: Record<string, string>, lanes: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: lanes })
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      const call = request(url, { agent, headers }, (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`${url}: ${answer.statusCode}`))
        answer.resume()
        answer.on('end', resolve)
      })
      call.on('error', reject)
      call.end()
    })
  return perSecond(lanes, ask).finally(() => agent.destroy())
}

/** How often the work ends per second when `lanes` of it run side by side. */
async function perSecond(lanes: number, work: () => Promise<unknown>): Promise<number> {
  const end = performance.now() + sliceMs
  let done = 0
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (; performance.now() < end; done++) await work()
    }),
  )
  return done / (sliceMs / 1_000)
}
