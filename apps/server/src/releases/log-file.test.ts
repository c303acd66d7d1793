import { LogLevel, type Release } from '@crux/agent-protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  badNews,
  type DeployTestEnvironment,
  deployWell,
  journal,
  makeDeployTestEnvironment,
} from '../../test/deploy-kit.ts'
import { makeSubscriber } from '../../test/fake-subscriber.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import { openLogFile } from './log-file.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())

const fetchFile = (id: string, query = '', as = testEnvironment.owner) =>
  server.request(`/api/${testEnvironment.team.slug}/deployments/${id}/log/file${query}`, { as })

it('the log file contains every release of a deployment, or one, as lines with time and container', async () => {
  const node = await testEnvironment.node()
  const agent = await testEnvironment.agent(node)
  const { id } = await testEnvironment.deployment(
    await testEnvironment.version({ images: [{ name: 'shop/web' }] }),
    node.id,
    'file',
  )
  await testEnvironment.start(id)
  const first = (await agent.command('deploy')).value as Release
  const instanceId = first.instances[0]?.instanceId ?? ''
  const lines = ['\u001b[31mno\u001b[0m\u0007 room\nleft', 'bye']
  await agent.client.reportDeployment({
    release: first.key,
    events: journal([
      { event: { case: 'log', value: { instanceId, level: LogLevel.ERROR, lines, fromContainer: true } } },
      ...badNews('web exited with 1'),
    ]),
  })
  await testEnvironment.waitForStatus(id, 'failed')
  await testEnvironment.start(id)
  await deployWell(agent, 2)
  await testEnvironment.waitForStatus(id, 'successful')

  const all = await fetchFile(id)
  expect(all.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(all.headers.get('content-disposition')).toBe('attachment; filename="deployment-file-all.log"')
  const text = (await all.text()).replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z /gm, '')
  expect(text.split('\n')).toEqual([
    expect.stringMatching(/^# Release 1: shop \w+ 1\.0\.0 as file on node-\w+, started by Ada$/),
    'info  in-progress',
    'info  Started by Ada',
    'error web: | no room',
    'error web: left',
    'error web: | bye',
    'error failed: web exited with 1',
    '',
    expect.stringContaining('# Release 2: '),
    'info  in-progress',
    'info  Started by Ada',
    'info  web: pull done',
    'info  web: verify done',
    'info  successful',
    '',
  ])
  const one = await fetchFile(id, '?try=2')
  expect(one.headers.get('content-disposition')).toContain('"deployment-file-2.log"')
  expect(await one.text()).not.toContain('Release 1')
})

it('the log file is available only for existing attempts, of the own team', async () => {
  const { id } = await testEnvironment.deployment(await testEnvironment.version(), (await testEnvironment.node()).id)
  expect(await (await fetchFile(id)).text()).toBe('')
  expect((await fetchFile(id, '?try=1')).status).toBe(404)
  expect((await fetchFile(id, '?try=99999999999')).status).toBe(400)
  const other = await makeDeployTestEnvironment(server)
  const foreign = await server.request(`/api/${other.team.slug}/deployments/${id}/log/file`, { as: other.owner })
  expect(foreign.status).toBe(404)
})

const many = process.env.CRUX_TEST_FULL ? 100_000 : 20_000
it('the log file streams any number of events without keeping them in memory', async () => {
  const { id } = await testEnvironment.deployment(await testEnvironment.version(), (await testEnvironment.node()).id)
  const { pool } = server.app.database
  await pool.query('update crux.deployment set attempts = 2 where id = $1', [id])
  await pool.query(
    `insert into crux.deployment_event (deployment_id, attempt, type, value)
     select $1, 1 + n / ($2::int / 2), 'log', jsonb_build_object('level', 'info', 'log', jsonb_build_array(n || repeat('.', 150)))
     from generate_series(0, $2::int - 1) n`,
    [id, many],
  )
  const team = { ...testEnvironment.team, role: 'owner' as const, secondFactorRequired: false }
  const { bytes } = await openLogFile(
    server.app,
    makeSubscriber<'deployment'>(team, { deploymentId: id }),
    id,
    undefined,
  )
  let [lines, chunks, largest] = [0, 0, 0]
  // Nothing is read before it is requested, so that the memory of one piece is that of the whole.
  for await (const chunk of bytes) {
    lines += Buffer.from(chunk).toString().split('....\n').length - 1
    chunks += 1
    largest = Math.max(largest, chunk.byteLength)
  }
  expect({ lines, chunks }).toEqual({ lines: many, chunks: many / 1_000 })
  expect(largest).toBeLessThan(250_000)
})
