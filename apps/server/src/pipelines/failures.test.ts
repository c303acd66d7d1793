import { startAzureDevOps } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, until } from '../../test/kit/index.ts'
import {
  makeDue,
  type PipelineServices,
  startPipelineServices,
  toAzureWrite,
  toGithubWrite,
  toGitlabWrite,
  untilRun,
  usePipelines,
} from '../../test/kit/pipelines.ts'
import { requestRun } from './request-run.ts'
import { selectPipeline, toLocation } from './store.ts'
import { startWatchedRuns } from './watch.ts'

let azure: PipelineServices['azure']
let github: PipelineServices['github']
let gitlab: PipelineServices['gitlab']
let crux: PipelineServices['crux']
let team: PipelineServices['team']
let ours: PipelineServices['ours']
let stop: PipelineServices['stop']

beforeAll(async () => {
  ;({ azure, github, gitlab, crux, team, ours, stop } = await startPipelineServices({ returnsRunDetails: false }))
})
afterEach(async () => {
  for (const service of [azure, github, gitlab]) service.behave()
  for (const { id } of await ours.list()) await ours.remove(id)
})
afterAll(() => stop())

const getSecret = async (pipelineId: string): Promise<string> => {
  const { rows } = await crux.app.database.pool.query('select secret from crux.pipeline_hook where pipeline_id = $1', [
    pipelineId,
  ])
  return crux.app.cipher.decrypt(rows[0].secret, { column: 'pipeline_hook.secret', row: pipelineId })
}
const deliverToAzureHook = (pipelineId: string, secret: string, body: string) =>
  crux.request(`/api/${team.slug}/pipelines/${pipelineId}/hooks/azure/pipeline-state`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
  })

describe('the number of a run', () => {
  it('that an earlier run has, from a service that was restored, makes the run unknown and leaves the earlier one', async () => {
    const { id } = await ours.create(toAzureWrite(azure))
    const first = await ours.trigger(id)
    azure.behave(({ method }) =>
      method === 'POST' ? { status: 200, body: { id: Number(first.externalId), state: 'inProgress' } } : undefined,
    )
    const second = await ours.trigger(id)
    expect(second).toMatchObject({
      status: 'unknown',
      externalId: null,
      reason: expect.stringContaining('number of an earlier run'),
    })
    expect((await ours.runs(id)).at(-1)).toMatchObject({ id: first.id, externalId: first.externalId, status: 'queued' })
  })

  it('of Azure DevOps may exceed the integers of JavaScript, in the answer and in a delivery', async () => {
    const { id } = await ours.create(toAzureWrite(azure))
    const [number, neighbour] = ['9007199254740993', '9007199254740992']
    azure.behave(({ method, path }) =>
      method === 'POST' && path.endsWith('/runs')
        ? { status: 200, text: `{"id":${number},"state":"inProgress"}` }
        : undefined,
    )
    expect(await ours.trigger(id)).toMatchObject({ externalId: number })
    const report = (of: string) =>
      `{"eventType":"ms.vss-pipelines.run-state-changed-event","resource":{"run":{"id":${of},"state":"completed","result":"succeeded"}}}`
    const secret = await getSecret(id)
    expect((await deliverToAzureHook(id, secret, report(neighbour))).status).toBe(404)
    expect((await ours.lastRun(id)).status).toBe('queued')
    expect((await deliverToAzureHook(id, secret, report(number))).status).toBe(204)
    expect((await ours.lastRun(id)).status).toBe('successful')
  })
})

describe('a pipeline that is deleted while a run is active', () => {
  it('answers the request that starts the run, and its hook accepts nothing more', async () => {
    const { id } = await ours.create(toAzureWrite(azure))
    const secret = await getSecret(id)
    azure.behave(async ({ method, path }) => {
      if (method === 'POST' && path.endsWith('/runs')) await ours.remove(id)
      return undefined
    })
    await expect(ours.trigger(id)).rejects.toMatchObject({ status: 412, property: 'pipelineId' })
    const number = [...azure.runs.keys()].at(-1)
    const report = JSON.stringify({
      eventType: 'ms.vss-pipelines.run-state-changed-event',
      resource: { run: { id: number, state: 'completed', result: 'succeeded' } },
    })
    expect((await deliverToAzureHook(id, secret, report)).status).toBe(401)
    expect(azure.subscriptions.size).toBe(0)
    expect(
      (await crux.app.database.pool.query('select 1 from crux.pipeline_run where pipeline_id = $1', [id])).rows,
    ).toEqual([])
  })

  it('does not disturb the runs of others while the service is asked for the state', async () => {
    const gone = await ours.create(toAzureWrite(azure))
    const kept = await ours.create(toAzureWrite(azure))
    const lost = await ours.trigger(gone.id)
    const run = await ours.trigger(kept.id)
    let isDeleted = false
    azure.behave(async ({ method, path }) => {
      if (method === 'GET' && path.endsWith(`/runs/${lost.externalId}`) && !isDeleted) {
        isDeleted = true
        await ours.remove(gone.id)
      }
      return undefined
    })
    await makeDue(crux)
    await until(() => isDeleted)
    azure.setRun(Number(run.externalId), { state: 'completed', result: 'succeeded' })
    await untilRun(crux, ours, kept.id, run.id, 'successful')
    await expect(ours.runs(gone.id)).rejects.toMatchObject({ status: 404 })
  })
})

describe('a pipeline that moves while a run is requested', () => {
  it('does not send the token of its new service to the old one', async () => {
    const { id } = await ours.create(toAzureWrite(azure))
    const old = await selectPipeline(crux.app.database.pool, team.id, id)
    if (!old) throw new Error('there is no pipeline')
    await ours.update(id, toGitlabWrite(gitlab))
    const asked = azure.requests.length
    const { error } = await requestRun(crux.app, {
      id,
      pipelineId: id,
      teamId: team.id,
      moves: old.moves,
      createdAt: new Date(),
      inputs: [],
      location: toLocation(old),
    })
    expect(error).toMatchObject({ code: 'preconditionFailed', property: 'pipelineId' })
    expect(azure.requests).toHaveLength(asked)
  })

  it('starts the run of an event at its new place, where its deliveries find it', async () => {
    const { id } = await ours.create(toAzureWrite(azure))
    const { pool } = crux.app.database
    const { rows } = await pool.query<{ id: string }>(
      `insert into crux.registry (team_id, name, type, url, public, created_by, updated_by)
       values ($1, 'Registry', 'v2', 'registry.example.com', true, 's', 's') returning id`,
      [team.id],
    )
    const registryId = String(rows[0]?.id)
    await ours.watch(id, { name: 'On push', event: 'image-push', filters: {}, registryId, triggerInputs: [] })
    const client = await pool.connect()
    await client.query('begin')
    await client.query('select from crux.pipeline where id = $1 for update', [id])
    await client.query('update crux.pipeline set moves = moves + 1 where id = $1', [id])
    const handled = startWatchedRuns(crux.app, {
      key: 'moving',
      teamId: team.id,
      at: new Date().toISOString(),
      type: 'image-pushed',
      registryId,
      registryName: 'Registry',
      imageName: 'shop/web',
      tag: '1',
    })
    const isWaiting = async () => (await pool.query('select 1 from pg_locks where not granted')).rows.length > 0
    await until(isWaiting)
    await client.query('commit')
    client.release()
    await handled
    const run = await until(async () => (await ours.runs(id)).find(({ externalId }) => externalId))
    await azure.report(Number(run.externalId))
    expect(await ours.lastRun(id)).toMatchObject({ id: run.id, status: 'running' })
  })
})

describe('a hook', () => {
  it('that Azure DevOps refuses says that its address has to be reachable', async () => {
    azure.behave(({ method, path }) =>
      method === 'POST' && path.endsWith('subscriptions') ? { status: 400, body: {} } : undefined,
    )
    const { hook } = await ours.create(toAzureWrite(azure))
    expect(hook).toMatchObject({ state: 'failed', problem: expect.stringContaining('reachable') })
    expect(hook?.problem).not.toContain('branch')
  })

  it('stays when a new token may not create another one', async () => {
    const { id, name } = await ours.create(toGithubWrite(github))
    github.behave(({ method, path }) =>
      method === 'POST' && path.endsWith('/hooks') ? { status: 403, body: {} } : undefined,
    )
    expect(await ours.update(id, toGithubWrite(github, { name }))).toBeUndefined()
    expect(github.hooks.size).toBe(1)
    expect((await ours.get(id)).hook).toMatchObject({ state: 'active', problem: null })
    await ours.trigger(id)
    const number = [...github.runs.keys()].at(-1) ?? 0n
    github.setRun(number, { status: 'in_progress' })
    expect(await github.report(number)).toMatchObject([{ status: 204 }])
    expect(await ours.lastRun(id)).toMatchObject({ status: 'running' })
  })

  it('takes no run of GitHub for ours that something else than a dispatch started, whatever its title says', async () => {
    const { id } = await ours.create(toGithubWrite(github))
    const run = await ours.trigger(id)
    const real = [...github.runs.keys()].at(-1) ?? 0n
    const forged = {
      id: 7n,
      title: `Merge ${run.id}`,
      status: 'completed',
      conclusion: 'success',
      inputs: {},
      ref: 'fork',
      event: 'pull_request',
    } as const
    github.runs.set(forged.id, forged)
    expect(await github.report(forged.id)).toMatchObject([{ status: 204 }])
    expect(await ours.lastRun(id)).toMatchObject({ status: 'queued', externalId: null })
    github.setRun(real, { status: 'in_progress' })
    await github.report(real)
    expect(await ours.lastRun(id)).toMatchObject({ status: 'running', externalId: String(real) })
    github.runs.delete(forged.id)
  })
})

describe('requests to a service', () => {
  it.each(['azure', 'github', 'gitlab'] as const)(
    'of %s follow no redirect, so that nobody else gets the token',
    async (type) => {
      const elsewhere = await startAzureDevOps()
      const service = { azure, github, gitlab }[type]
      const { id } = await ours.create(
        { azure: toAzureWrite(azure), github: toGithubWrite(github), gitlab: toGitlabWrite(gitlab) }[type],
      )
      for (const status of [301, 302, 307, 308]) {
        service.behave(() => ({ status, headers: { location: `${elsewhere.url}/elsewhere` } }))
        await expect(ours.trigger(id)).rejects.toMatchObject({ status: expect.any(Number) })
        expect(await ours.lastRun(id)).toMatchObject({ status: 'failed', externalId: null })
      }
      expect(elsewhere.requests).toEqual([])
      await elsewhere.stop()
    },
  )

  it('reach no private address that the installation does not allow', async () => {
    const strict = await startTestServer({
      config: { azureUrl: azure.url, githubApiUrl: github.url, gitlabUrl: gitlab.url, outboundAllow: [] },
    })
    const someone = strict.signUp('Grace')
    const theirs = usePipelines(strict, someone, await strict.createTeam(someone))
    const asked = [azure, github, gitlab].map(({ requests }) => requests.length)
    for (const write of [toAzureWrite(azure), toGithubWrite(github), toGitlabWrite(gitlab)])
      await expect(theirs.create(write)).rejects.toMatchObject({ status: 412, property: 'repository' })
    expect([azure, github, gitlab].map(({ requests }) => requests.length)).toEqual(asked)
    await strict.stop()
  })

  it('with an answer of many megabytes are given up, and the run is unknown', async () => {
    const { id } = await ours.create(toAzureWrite(azure))
    azure.behave(({ method }) =>
      method === 'POST' ? { status: 200, text: `{"id":"${'1'.repeat(5_000_000)}"}` } : undefined,
    )
    expect(await ours.trigger(id)).toMatchObject({ status: 'unknown', externalId: null })
  })
})

describe('names, tags and keys that look like JSON or a path', () => {
  const hostile = { imageName: 'a"},"ref":"evil","x":{"y":"../..%2f?api-version=1#', tag: '"}],\\"isSecret":true\n' }
  const expected = `${hostile.imageName}:${hostile.tag}`
  const inputs = [
    { key: 'IMAGE', value: '{{imageName}}:{{imageTag}}' },
    { key: '__proto__', value: '{{imageTag}}' },
  ]

  it.each(['azure', 'github', 'gitlab'] as const)('stay values of their inputs at %s', async (type) => {
    const { pool } = crux.app.database
    const trigger = (name: string) => ({ trigger: { name, inputs } })
    const made = await ours.create(
      {
        azure: toAzureWrite(azure, trigger('deploy')),
        github: toGithubWrite(github, trigger(github.workflow)),
        gitlab: toGitlabWrite(gitlab, trigger('')),
      }[type],
    )
    const { rows } = await pool.query<{ id: string }>(
      `insert into crux.registry (team_id, name, type, url, public, created_by, updated_by)
       values ($1, $2, 'v2', 'registry.example.com', true, 's', 's') returning id`,
      [team.id, `Registry of ${type}`],
    )
    const registryId = String(rows[0]?.id)
    await ours.watch(made.id, { name: 'On push', event: 'image-push', filters: {}, registryId, triggerInputs: [] })
    const end = { azure: '/pipelines/42/runs', github: '/dispatches', gitlab: '/pipeline' }[type]
    const service = { azure, github, gitlab }[type]
    const asked = service.find('POST', end).length
    // The workflow of the test kit declares no input of this name: what is sent is compared, whatever is answered.
    await startWatchedRuns(crux.app, {
      key: `hostile ${type}`,
      teamId: team.id,
      at: new Date().toISOString(),
      type: 'image-pushed',
      registryId,
      registryName: 'Registry',
      ...hostile,
    })
    const sent = await until(() => service.find('POST', end)[asked])
    const body = JSON.parse(JSON.stringify(sent.body))
    const run = await ours.lastRun(made.id)
    const entries = {
      azure: () => [Object.entries(body.variables), body.resources],
      github: () => [Object.entries(body.inputs), body.ref],
      gitlab: () => [body.variables, body.ref],
    }[type]()
    expect(entries).toEqual(
      {
        azure: [
          [
            ['IMAGE', { isSecret: false, value: expected }],
            ['__proto__', { isSecret: false, value: hostile.tag }],
          ],
          null,
        ],
        github: [
          [
            ['IMAGE', expected],
            ['__proto__', hostile.tag],
            ['crux_run', run.id],
          ],
          'main',
        ],
        gitlab: [
          [
            { key: 'IMAGE', value: expected },
            { key: '__proto__', value: hostile.tag },
          ],
          'main',
        ],
      }[type],
    )
    expect(run.inputs?.map(({ value }) => value)).toEqual([expected, hostile.tag])
  })
})

it('the audit log names who triggered a pipeline, and not with which values', async () => {
  const { id } = await ours.create(
    toAzureWrite(azure, { trigger: { name: 'deploy', inputs: [{ key: 'A', value: '' }] } }),
  )
  await ours.trigger(id, [{ key: 'A', value: 'value-of-a-run' }])
  const entry = await until(async () => {
    const { rows } = await crux.app.database.pool.query(
      "select actor_name, data from crux.audit_log where event like '%pipelines.trigger' and data::text like $1",
      [`%${id}%`],
    )
    return rows[0]
  })
  expect(entry.actorName).toBe('Ada')
  expect(JSON.stringify(entry)).not.toContain('value-of-a-run')
})
