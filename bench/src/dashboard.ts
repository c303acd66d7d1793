import { createDeployment, createService, idle, unique } from '@crux/test-kit'
import pg from 'pg'
import { percentile, type Report, timed } from './measure.ts'
import type { TestSystem } from './test-system.ts'

const rows = 100_000
/** As many deployments as a prefix has in the data: the others are at targets of their own. */
const perTarget = 100

/** The requests of the dashboard, sent together as the page does, with 100,000 deployments that ended within two months. */
export async function dashboard(testSystem: TestSystem, report: Report, rounds: number): Promise<void> {
  const { testEnvironment, system } = testSystem
  await testEnvironment.registry.push('bench/dashboard', '1', idle())
  const service = await createService(testEnvironment, [{ name: 'bench/dashboard', tag: '1' }])
  const seed = await createDeployment(testEnvironment, service, unique('s'))
  const pool = new pg.Pool({ connectionString: system.databaseUrl, max: 1 })
  await pool.query(
    `with added as (
      insert into crux.deployment (team_id, project_id, version_id, node_id, prefix, status, attempts, created_by, updated_by, created_at)
      select team_id, project_id, version_id, node_id, 'd' || n % ${rows / perTarget}, (array['successful', 'obsolete', 'obsolete', 'failed'])[1 + n % 4],
        1, created_by, updated_by, now() - n * interval '50 seconds'
      from crux.deployment, generate_series(1, ${rows}) n where id = $1 returning *)
     insert into crux.release (deployment_id, number, team_id, project_id, node_id, prefix, version_name, project_name, status,
       started_at, dispatched_at, finished_at, started_by_id, started_by_name)
     select id, 1, team_id, project_id, node_id, prefix, '1', 'p', case status when 'failed' then 'failed' else 'successful' end,
       created_at, created_at, created_at + interval '4 seconds', created_by, 'Ada' from added`,
    [seed.id],
  )
  await pool.query('analyze crux.deployment, crux.release')
  const headers = testEnvironment.user.headers()
  const base = `${system.url}/api/${testEnvironment.teamSlug}`
  const paths = [
    'dashboard',
    'dashboard/attention',
    'dashboard/activity?timeZone=Europe/Berlin',
    'deployments?skip=0&take=5',
  ]
  const ask = (chosen: readonly string[]) =>
    Promise.all(
      chosen.map(async (path) => {
        const answer = await fetch(`${base}/${path}`, { headers })
        if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
        await answer.arrayBuffer()
      }),
    )
  const measure = async (chosen: readonly string[]) => {
    const taken: number[] = []
    for (let round = 0; round < rounds; round++) taken.push(await timed(() => ask(chosen)))
    return percentile(taken, 50)
  }
  await ask(paths)
  const each: string[] = []
  for (const path of paths) each.push(`${path.replace(/\?.*/, '')} ${(await measure([path])).toFixed(0)} ms`)
  const all = await measure(paths)
  await pool.query("delete from crux.deployment where prefix ~ '^d[0-9]+$' and team_id = $1", [testEnvironment.teamId])
  await pool.end()
  report.number('dashboard with 100,000 deployments, all its requests', all, 'ms', '<= 100', each.join(', '))
}
