import { limits } from '@crux/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, getTestEnvironment, type SeededVersion } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import { insertRelease, type ReleaseRow } from '../../test/release-rows.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
let version: SeededVersion
let nodeId: string

beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())
beforeEach(async () => {
  const owner = server.signUp('Ada')
  testEnvironment = await getTestEnvironment(server, owner, await server.createTeam(owner))
  version = await testEnvironment.version()
  nodeId = (await testEnvironment.node('eu-west-1')).id
})

const query = (text: string, values: unknown[]) => server.app.database.pool.query(text, values)
const attention = () => testEnvironment.client.call('dashboard.attention', { params: testEnvironment.params })
const add = (row: ReleaseRow, at: { version?: SeededVersion; prefix?: string; nodeId?: string } = {}) =>
  insertRelease(
    testEnvironment,
    at.version ?? version,
    { nodeId: at.nodeId ?? nodeId, prefix: at.prefix ?? 'shop' },
    row,
  )
const failed = async () => (await attention()).failedDeployments.map(({ deployment }) => deployment.id)
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

it('nothing needs attention in a team without problems', async () => {
  await add({ status: 'successful' })
  expect(await attention()).toEqual({
    failedDeployments: [],
    unreachableNodes: [],
    pendingDigests: [],
    failedPipelines: [],
    disabledNotifications: [],
    truncated: [],
  })
})

describe('a failed deployment', () => {
  it('needs attention while it is the newest of its project at its node and prefix', async () => {
    const older = await add({ status: 'failed', finishedAt: minutesAgo(9) })
    expect((await attention()).failedDeployments).toMatchObject([
      { release: 1, deployment: { id: older, status: 'failed', prefix: 'shop', node: { name: 'eu-west-1' } } },
    ])
    const newer = await add({ status: 'failed', finishedAt: minutesAgo(5) })
    expect(await failed()).toEqual([newer])
  })

  it.each(['successful', 'in-progress'] as const)('needs none after a later release that is %s', async (status) => {
    await add({ status: 'failed', finishedAt: minutesAgo(9) })
    const later = await testEnvironment.version({ projectId: version.projectId, name: '2.0.0' })
    await add(
      { status, startedAt: minutesAgo(3), finishedAt: status === 'successful' ? minutesAgo(2) : null },
      { version: later },
    )
    expect(await failed()).toEqual([])
  })

  it('still needs it after a success of another project, prefix or node, or an earlier one', async () => {
    const broken = await add({ status: 'failed', finishedAt: minutesAgo(9) })
    await add({ status: 'successful', finishedAt: minutesAgo(2) }, { version: await testEnvironment.version() })
    await add({ status: 'successful', finishedAt: minutesAgo(2) }, { prefix: 'other' })
    await add({ status: 'successful', finishedAt: minutesAgo(2) }, { nodeId: (await testEnvironment.node()).id })
    await add({ status: 'successful', finishedAt: minutesAgo(20) })
    expect(await failed()).toEqual([broken])
  })

  it('is listed by the time of the failure, with a note where there are more', async () => {
    const ids: string[] = []
    for (let at = 0; at <= limits.attention; at++)
      ids.push(await add({ status: 'failed', finishedAt: minutesAgo(60 - at) }, { prefix: `p${at}` }))
    expect(await failed()).toEqual(ids.slice(1).reverse())
    expect((await attention()).truncated).toEqual(['failedDeployments'])
  })
})

describe('a node', () => {
  it('needs attention while an agent that was connected is away, with the time of its end', async () => {
    await query(`update crux.node set connected_at = $2, disconnected_at = $3 where id = $1`, [
      nodeId,
      minutesAgo(50),
      minutesAgo(7),
    ])
    const { unreachableNodes } = await attention()
    expect(unreachableNodes).toMatchObject([{ id: nodeId, name: 'eu-west-1', type: 'docker' }])
    expect(Date.now() - Date.parse(unreachableNodes[0]?.since ?? '')).toBeGreaterThan(6 * 60_000)
    await query(`update crux.node set link_server = 'some server' where id = $1`, [nodeId])
    expect((await attention()).unreachableNodes).toEqual([])
  })

  it('needs none before its first connection, and after its token was revoked', async () => {
    expect((await attention()).unreachableNodes).toEqual([])
    await query('update crux.node set connected_at = now(), disconnected_at = now() where id = $1', [nodeId])
    await query('delete from crux.node_token where node_id = $1', [nodeId])
    expect((await attention()).unreachableNodes).toEqual([])
  })
})

describe('a followed tag', () => {
  async function follow(digests: { runs: string; found: string | null }) {
    const id = await add({ status: 'successful' })
    const [imageId] = version.imageIds
    const { rows } = await query(
      `insert into crux.instance (deployment_id, image_id, follow) values ($1, $2, 'notify') returning id`,
      [id, imageId],
    )
    await query(
      `insert into crux.release_instance (release_id, instance_id, "order", registry_id, container_name, image_name, image_tag, digest, config)
       select id, $2, 0, $3, 'web', 'web', '1.0', $4, '{}' from crux.release where deployment_id = $1`,
      [id, rows[0].id, testEnvironment.registryId, digests.runs],
    )
    await query(
      `insert into crux.followed_tag (registry_id, name, tag, digest, digest_at) values ($1, 'web', '1.0', $2, now())`,
      [testEnvironment.registryId, digests.found],
    )
    return { deploymentId: id, instanceId: rows[0].id as string }
  }

  it('needs attention while another digest is in the registry than the one that runs', async () => {
    const { deploymentId, instanceId } = await follow({ runs: 'sha256:one', found: 'sha256:two' })
    expect((await attention()).pendingDigests).toMatchObject([
      { deployment: { id: deploymentId }, instanceId, imageName: 'web', imageTag: '1.0', digest: 'sha256:two' },
    ])
    // The release that is in progress may be about to run it.
    await query(`update crux.deployment set status = 'in-progress' where id = $1`, [deploymentId])
    expect((await attention()).pendingDigests).toEqual([])
    await query(`update crux.deployment set status = 'successful' where id = $1`, [deploymentId])
    await query(`update crux.instance set follow = 'off' where id = $1`, [instanceId])
    expect((await attention()).pendingDigests).toEqual([])
  })

  it.each([
    ['the same', 'sha256:one'],
    ['no', null],
  ])('needs none with %s digest in the registry', async (_, found) => {
    await follow({ runs: 'sha256:one', found })
    expect((await attention()).pendingDigests).toEqual([])
  })
})

it('a pipeline needs attention while its newest run failed', async () => {
  const { rows } = await query(
    `insert into crux.pipeline (team_id, name, type, organization, project, trigger_name, token, created_by, updated_by)
     values ($1, 'nightly', 'github', 'o', 'p', 'build.yml', 'sealed', 'u', 'u') returning id`,
    [testEnvironment.team.id],
  )
  const run = (status: string, minutes: number) =>
    query(
      `insert into crux.pipeline_run (pipeline_id, status, reason, created_at, finished_at, creator_type, created_by_id, created_by_name)
       values ($1, $2, 'exit code 1', $3, $3, 'user', 'u', 'Ada')`,
      [rows[0].id, status, minutesAgo(minutes)],
    )
  expect((await attention()).failedPipelines).toEqual([])
  await run('successful', 9)
  await run('failed', 5)
  expect((await attention()).failedPipelines).toMatchObject([
    { id: rows[0].id, name: 'nightly', reason: 'exit code 1' },
  ])
  await run('running', 1)
  expect((await attention()).failedPipelines).toEqual([])
})

it('a notification needs attention when Crux switched it off, not when a user did', async () => {
  const insert = (name: string, active: boolean, problem: string | null) =>
    query(
      `insert into crux.notification (team_id, name, type, active, problem, created_by, updated_by)
       values ($1, $2, 'webhook', $3, $4, 'u', 'u')`,
      [testEnvironment.team.id, name, active, problem],
    )
  await insert('off by a user', false, null)
  await insert('on again', true, 'the address is gone')
  await insert('gone', false, 'the address is gone')
  expect((await attention()).disabledNotifications).toEqual([
    { id: expect.any(String), name: 'gone', problem: 'the address is gone' },
  ])
})

it('another team never sees what needs attention', async () => {
  await add({ status: 'failed' })
  await query('update crux.node set connected_at = now(), disconnected_at = now() where id = $1', [nodeId])
  const eve = server.signUp('Eve')
  const team = await server.createTeam(eve)
  const lists = await server.client(eve).call('dashboard.attention', { params: { teamSlug: team.slug } })
  expect(Object.values(lists).flat()).toEqual([])
  await expect(
    server.client(eve).request('dashboard.attention', { params: testEnvironment.params }),
  ).rejects.toMatchObject({ status: 403 })
})
