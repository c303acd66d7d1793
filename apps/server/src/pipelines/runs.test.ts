import { type AzureDevOps, startAzureDevOps } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam, until } from '../../test/kit/index.ts'
import { makeDue, type Pipelines, toAzureWrite, untilRun, usePipelines } from '../../test/kit/pipelines.ts'
import { claimRuns } from './claim-store.ts'

let azure: AzureDevOps
let crux: TestServer
let owner: Someone
let team: TestTeam
let ours: Pipelines
let pipelineId: string

beforeAll(async () => {
  azure = await startAzureDevOps()
  crux = await startTestServer({ config: { azureUrl: azure.url } })
  owner = crux.signUp('Ada')
  team = await crux.createTeam(owner)
  ours = usePipelines(crux, owner, team)
  const inputs = [
    { key: 'STAGE', value: 'dev' },
    { key: 'SIZE', value: '1' },
  ]
  const made = await ours.create(
    toAzureWrite(azure, {
      repository: { organization: 'company', project: 'shop', branch: 'release' },
      trigger: { name: 'deploy', inputs },
    }),
  )
  pipelineId = made.id
})
afterEach(() => azure.behave())
afterAll(async () => {
  await crux.stop()
  await azure.stop()
})

const sent = () => [...azure.runs.values()].at(-1)
const getRun = async (id: string) => (await ours.runs(pipelineId)).find((run) => run.id === id)
const checked = (id: string, status: string) => untilRun(crux, ours, pipelineId, id, status)

describe('a run', () => {
  it('is stored, asked for with the inputs of the pipeline and its branch, and listed newest first', async () => {
    const run = await ours.trigger(pipelineId)
    expect(run).toMatchObject({
      status: 'queued',
      startedBy: { id: owner.id, name: 'Ada' },
      creatorType: 'user',
      externalId: String(sent()?.id),
      url: expect.stringContaining('dev.azure.com/company/shop'),
      inputs: [
        { key: 'STAGE', value: 'dev' },
        { key: 'SIZE', value: '1' },
      ],
    })
    expect(sent()).toMatchObject({
      refName: 'refs/heads/release',
      variables: { STAGE: { isSecret: false, value: 'dev' }, SIZE: { isSecret: false, value: '1' } },
    })
    const second = await ours.trigger(pipelineId, [{ key: 'STAGE', value: 'prod' }])
    expect(sent()?.variables).toEqual({ STAGE: { isSecret: false, value: 'prod' } })
    expect((await ours.runs(pipelineId)).slice(0, 2).map(({ id }) => id)).toEqual([second.id, run.id])
    expect((await ours.list())[0]?.lastRun).toMatchObject({ id: second.id, status: 'queued' })
  })

  it('gets its state by asking the service, and by its hook, and pages hear of each change', async () => {
    const live = crux.live(owner)
    const heard: { runId: string; status: string }[] = []
    const channel = live.channel('pipelines', { teamSlug: team.slug })
    channel.on('pipeline-status', (data) => heard.push(data))
    await new Promise<void>((resolve) => channel.onReady(resolve))
    const run = await ours.trigger(pipelineId)
    const number = Number(run.externalId)
    await checked(run.id, 'running')
    azure.setRun(number, { state: 'completed', result: 'succeeded', finishedDate: new Date().toISOString() })
    expect(await azure.report(number)).toEqual([{ status: 204, text: '' }])
    const done = await getRun(run.id)
    expect(done).toMatchObject({ status: 'successful', finishedAt: expect.any(String), reason: null })
    await until(() => heard.some(({ runId, status }) => runId === run.id && status === 'successful'))
  })

  it('fails with the reason when the service refuses it, and tells the caller', async () => {
    azure.behave(({ method }) => (method === 'POST' ? { status: 400, body: { message: 'PrivateDetail' } } : undefined))
    const refused = await ours.trigger(pipelineId).catch((error: unknown) => error)
    expect(refused).toMatchObject({ status: 400, property: 'trigger.name' })
    const run = await ours.lastRun(pipelineId)
    expect(run).toMatchObject({ status: 'failed', externalId: null, reason: expect.stringContaining('status 400') })
    expect(JSON.stringify([refused, run])).not.toContain('PrivateDetail')
    azure.behave(({ method }) => (method === 'POST' ? { status: 203, text: '<html>' } : undefined))
    await expect(ours.trigger(pipelineId)).rejects.toMatchObject({ status: 403, property: 'token' })
  })

  it('fails with the reason when the service has no such pipeline any more', async () => {
    azure.behave(({ method }) => (method === 'POST' ? { status: 404, body: {} } : undefined))
    await expect(ours.trigger(pipelineId)).rejects.toMatchObject({ status: 404, property: 'trigger.name' })
    expect(await ours.lastRun(pipelineId)).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('no such pipeline'),
    })
  })

  it('keeps its state while the service answers 203 for a token that it knows no more', async () => {
    const run = await ours.trigger(pipelineId)
    azure.behave(() => ({ status: 203, text: '<html>' }))
    await makeDue(crux)
    await until(() => azure.find('GET', `/runs/${run.externalId}`).length > 0)
    expect(await getRun(run.id)).toMatchObject({ status: 'queued', reason: null })
    azure.behave()
    await checked(run.id, 'running')
  })

  it('is unknown when the service does not say whether it started it, and is not started again', async () => {
    const [before, asked] = [azure.runs.size, azure.find('POST', '/runs').length]
    azure.behave(({ method }) => (method === 'POST' ? 'cut' : undefined))
    const run = await ours.trigger(pipelineId)
    expect(run).toMatchObject({ status: 'unknown', reason: expect.stringContaining('may have started the run') })
    azure.behave()
    await makeDue(crux)
    await ours.trigger(pipelineId).then(({ id }) => checked(id, 'running'))
    expect([azure.runs.size, azure.find('POST', '/runs').length]).toEqual([before + 2, asked + 2])
  })

  it('is unknown when the server that asked for it was lost, and is not started again', async () => {
    const asked = azure.find('POST', '/runs').length
    const { rows } = await crux.app.database.pool.query(
      `insert into crux.pipeline_run (pipeline_id, status, creator_type, created_by_id, created_by_name, requested_at, next_check_at)
       values ($1, 'queued', 'user', 's', 's', now(), now()) returning id`,
      [pipelineId],
    )
    const run = await checked(rows[0].id, 'unknown')
    expect(run).toMatchObject({ reason: expect.stringContaining('interrupted') })
    expect(azure.find('POST', '/runs')).toHaveLength(asked)
  })

  it('is unknown once the service has lost it, with the reason', async () => {
    const run = await ours.trigger(pipelineId)
    azure.loseRun(Number(run.externalId))
    await makeDue(crux)
    await until(() => azure.find('GET', `/runs/${run.externalId}`).length > 0)
    // A run that was started a moment ago may not be visible yet.
    expect((await getRun(run.id))?.status).toBe('queued')
    await age(run.id, '3 minutes')
    expect(await checked(run.id, 'unknown')).toMatchObject({
      reason: expect.stringContaining('does not know this run'),
    })
  })

  it('is unknown after a day without any report, with the reason, and not before', async () => {
    const run = await ours.trigger(pipelineId)
    azure.behave(() => ({ status: 503 }))
    await age(run.id, '23 hours')
    const asked = azure.find('GET', `/runs/${run.externalId}`).length
    await makeDue(crux)
    await until(() => azure.find('GET', `/runs/${run.externalId}`).length > asked)
    expect((await getRun(run.id))?.status).toBe('queued')
    await age(run.id, '2 hours')
    expect(await checked(run.id, 'unknown')).toMatchObject({
      reason: expect.stringMatching(/not reported .* for a day.*status 503/),
      finishedAt: null,
    })
  })

  it('is asked for again only when the service allows it', async () => {
    const run = await ours.trigger(pipelineId)
    const path = `/runs/${run.externalId}`
    azure.behave(() => ({ status: 429, headers: { 'retry-after': '3000' } }))
    await makeDue(crux)
    const nextCheck = async () =>
      (
        await crux.app.database.pool.query(
          'select extract(epoch from next_check_at - now())::float8 as s from crux.pipeline_run where id = $1',
          [run.id],
        )
      ).rows[0].s
    await until(async () => azure.find('GET', path).length > 0 && (await nextCheck()) > 2_000)
    // The transaction that reads may have begun shortly before the one that wrote.
    expect(await nextCheck()).toBeLessThan(3_001)
  })

  it('hangs no request of others while its service hangs', async () => {
    const run = await ours.trigger(pipelineId)
    azure.behave(({ method }) => (method === 'GET' ? 'hang' : undefined))
    await makeDue(crux)
    await until(() => azure.find('GET', `/runs/${run.externalId}`).length > 0)
    expect((await ours.get(pipelineId)).lastRun).toMatchObject({ id: run.id, status: 'queued' })
  })
})

/** Lets a run be older, and its last report. */
const age = (id: string, by: string) =>
  crux.app.database.pool.query(
    `update crux.pipeline_run set created_at = created_at - $2::interval, requested_at = requested_at - $2::interval,
     reported_at = reported_at - $2::interval where id = $1`,
    [id, by],
  )

describe('who triggers', () => {
  it('as a member may change the inputs of the pipeline and give no others; an admin may give any', async () => {
    const member = await crux.addMember(team, 'user')
    const theirs = usePipelines(crux, member, team)
    await expect(theirs.trigger(pipelineId, [{ key: 'STAGE', value: 'qa' }])).resolves.toMatchObject({
      status: 'queued',
    })
    const asked = azure.requests.length
    await expect(
      theirs.trigger(pipelineId, [
        { key: 'STAGE', value: 'qa' },
        { key: 'LD_PRELOAD', value: 'x' },
      ]),
    ).rejects.toMatchObject({ status: 403, property: 'inputs[1].key', message: expect.stringContaining('admin') })
    expect(azure.requests).toHaveLength(asked)
    await expect(ours.trigger(pipelineId, [{ key: 'EXTRA', value: '1' }])).resolves.toMatchObject({ status: 'queued' })
    await expect(
      ours.trigger(pipelineId, [
        { key: 'A', value: '1' },
        { key: 'A', value: '2' },
      ]),
    ).rejects.toMatchObject({ status: 400, error: 'keysAreUnique' })
  })

  it('with a token has the rights of a member, also if an admin made it', async () => {
    const { token } = await crux
      .client(owner)
      .call('tokens.create', { body: { name: 'Build server', scope: 'deploy', expirationInDays: 0 } })
    const robot = usePipelines(crux, { ...owner, token }, team)
    await expect(robot.trigger(pipelineId)).resolves.toMatchObject({ status: 'queued' })
    await expect(robot.trigger(pipelineId, [{ key: 'EXTRA', value: '1' }])).rejects.toMatchObject({
      status: 403,
      property: 'inputs[0].key',
    })
  })

  it('of another team reaches neither pipeline nor runs', async () => {
    const stranger = crux.signUp('Eve')
    const other = await crux.createTeam(stranger)
    const theirs = usePipelines(crux, stranger, other)
    const attempts = [
      () => theirs.get(pipelineId),
      () => theirs.runs(pipelineId),
      () => theirs.trigger(pipelineId),
      () => theirs.remove(pipelineId),
      () => theirs.update(pipelineId, toAzureWrite(azure)),
    ]
    for (const attempt of attempts)
      await expect(attempt()).rejects.toMatchObject({ status: 404, property: 'pipelineId' })
  })
})

describe('several servers on one database', () => {
  it('ask the service for the state of a run once per check', async () => {
    const second = await startTestServer({
      database: crux.database,
      people: crux.people,
      config: { azureUrl: azure.url, encryption: crux.app.config.encryption },
    })
    const run = await ours.trigger(pipelineId)
    const path = `/runs/${run.externalId}`
    await crux.app.database.pool.query('update crux.pipeline_run set next_check_at = null where id <> $1', [run.id])
    const number = Number(run.externalId)
    azure.setRun(number, { state: 'completed', result: 'failed' })
    await makeDue(crux)
    await until(async () => (await getRun(run.id))?.status === 'failed')
    expect(azure.find('GET', path)).toHaveLength(1)
    await second.stop({ database: true })
  })

  it('claim each run that is due once, however many claims meet', async () => {
    const { pool } = crux.app.database
    await pool.query(
      `insert into crux.pipeline_run (pipeline_id, external_id, status, creator_type, created_by_id, created_by_name,
         requested_at, next_check_at)
       select $1, 500000 + i, 'queued', 'user', 'claimed', 's', now(), now() from generate_series(1, 60) i`,
      [pipelineId],
    )
    const except = { pipelines: [], teams: [] }
    const claims = await Promise.all(Array.from({ length: 12 }, () => claimRuns(pool, { max: 10, leaseS: 60, except })))
    const ids = claims.flat().map(({ id }) => id)
    expect(ids.length).toBeGreaterThan(10)
    expect(new Set(ids).size).toBe(ids.length)
    await pool.query("delete from crux.pipeline_run where created_by_id = 'claimed'")
  })
})
