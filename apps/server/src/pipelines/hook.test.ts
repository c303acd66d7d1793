import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type PipelineServices,
  startPipelineServices,
  toAzureWrite,
  toGithubWrite,
  toGitlabWrite,
} from '../../test/kit/pipelines.ts'

let azure: PipelineServices['azure']
let github: PipelineServices['github']
let gitlab: PipelineServices['gitlab']
let crux: PipelineServices['crux']
let owner: PipelineServices['owner']
let team: PipelineServices['team']
let ours: PipelineServices['ours']
let stop: PipelineServices['stop']
const ids = { azure: '', github: '', gitlab: '' }

beforeAll(async () => {
  ;({ azure, github, gitlab, crux, owner, team, ours, stop } = await startPipelineServices())
  ids.azure = (await ours.create(toAzureWrite(azure))).id
  ids.github = (await ours.create(toGithubWrite(github))).id
  ids.gitlab = (await ours.create(toGitlabWrite(gitlab))).id
})
afterAll(() => stop())

const statuses = async (pipelineId: string) => (await ours.runs(pipelineId)).map(({ status }) => status)
const post = (pipelineId: string, path: string, body: string, headers: Record<string, string> = {}) =>
  crux.request(`/api/${team.slug}/pipelines/${pipelineId}/hooks/${path}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
const paths = { azure: 'azure/pipeline-state', github: 'github', gitlab: 'gitlab' } as const

describe('a delivery of Azure DevOps', () => {
  it('sets the state of its run, changes nothing when it is repeated, and never goes backwards', async () => {
    const run = await ours.trigger(ids.azure)
    const number = Number(run.externalId)
    expect(await azure.report(number)).toEqual([{ status: 204, text: '' }])
    expect(await ours.lastRun(ids.azure)).toMatchObject({ status: 'running', finishedAt: null })
    azure.setRun(number, { state: 'completed', result: 'succeeded', finishedDate: '2999-01-01T00:00:00Z' })
    for (let time = 0; time < 3; time++) expect(await azure.report(number)).toEqual([{ status: 204, text: '' }])
    const done = await ours.lastRun(ids.azure)
    expect(done).toMatchObject({ status: 'successful' })
    expect(Date.parse(String(done.finishedAt))).toBeLessThanOrEqual(Date.now())
    azure.setRun(number, { state: 'inProgress' })
    await azure.report(number)
    azure.setRun(number, { state: 'completed', result: 'failed' })
    await azure.report(number)
    expect(await ours.lastRun(ids.azure)).toEqual(done)
    expect((await ours.get(ids.azure)).hook).toMatchObject({ lastDeliveryAt: expect.any(String) })
  })

  it.each([
    [{ state: 'completed', result: 'failed' } as const, 'failed'],
    [{ state: 'completed', result: 'canceled' } as const, 'failed'],
    [{ state: 'canceling' } as const, 'failed'],
    [{ state: 'unknown' } as const, 'queued'],
  ])('with %j leads to the status %s', async (state, status) => {
    const number = Number((await ours.trigger(ids.azure)).externalId)
    azure.setRun(number, state)
    await azure.report(number)
    expect(await ours.lastRun(ids.azure)).toMatchObject({ status })
  })

  it('is refused when it is forged, of another event, or of a run that Crux did not start', async () => {
    const run = await ours.trigger(ids.azure)
    const number = Number(run.externalId)
    azure.setRun(number, { state: 'completed', result: 'succeeded' })
    expect(await azure.report(number, { secret: 'guess' })).toMatchObject([{ status: 401 }])
    const [other] = await azure.report(number, { eventType: 'ms.vss-pipelines.stage-state-changed-event' })
    expect([other?.status, JSON.parse(String(other?.text))]).toMatchObject([400, { property: 'eventType' }])
    azure.runs.set(7, { id: 7, pipelineId: 42, state: 'completed', result: 'succeeded', variables: {} })
    expect(await azure.report(7)).toMatchObject([{ status: 404 }])
    expect(await ours.lastRun(ids.azure)).toMatchObject({ id: run.id, status: 'queued' })
  })

  it('cannot reach a run of another pipeline, not even one with the same number at its service', async () => {
    const second = await ours.create(toAzureWrite(azure))
    const run = await ours.trigger(ids.azure)
    azure.setRun(Number(run.externalId), { state: 'completed', result: 'succeeded' })
    const [, hook] = [...azure.subscriptions.values()]
    const body = JSON.stringify({
      eventType: 'ms.vss-pipelines.run-state-changed-event',
      resource: { run: { id: Number(run.externalId), state: 'completed', result: 'succeeded' } },
    })
    const authorization = String(hook?.inputs.httpHeaders).replace('Authorization:', '')
    expect((await post(second.id, paths.azure, body, { authorization })).status).toBe(404)
    expect((await post(ids.azure, paths.azure, body, { authorization })).status).toBe(401)
    expect(await ours.lastRun(ids.azure)).toMatchObject({ status: 'queued' })
    await ours.remove(second.id)
  })

  it('reaches its run after the team got another slug, also at the address with the old one', async () => {
    const number = Number((await ours.trigger(ids.azure)).externalId)
    const slug = `${team.slug}x`
    const rename = (to: string) =>
      crux.client(owner).call('teams.update', { params: { teamId: team.id }, body: { name: team.name, slug: to } })
    await rename(slug)
    expect(await azure.report(number)).toEqual([{ status: 204, text: '' }])
    await rename(team.slug)
    expect(await ours.lastRun(ids.azure)).toMatchObject({ status: 'running' })
  })

  it('may carry the secret as the password of basic authentication', async () => {
    const run = await ours.trigger(ids.azure)
    const [hook] = [...azure.subscriptions.values()]
    const secret = String(hook?.inputs.httpHeaders).replace('Authorization:Bearer ', '')
    const body = JSON.stringify({
      eventType: 'ms.vss-pipelines.run-state-changed-event',
      resource: { run: { id: Number(run.externalId), state: 'inProgress' } },
    })
    const basic = (password: string) => ({
      authorization: `Basic ${Buffer.from(`crux:${password}`).toString('base64')}`,
    })
    expect((await post(ids.azure, paths.azure, body, basic('guess'))).status).toBe(401)
    expect((await post(ids.azure, paths.azure, body, basic(secret))).status).toBe(204)
    expect(await ours.lastRun(ids.azure)).toMatchObject({ status: 'running' })
  })
})

describe.each(['github', 'gitlab'] as const)('a delivery of %s', (type) => {
  const service = () => (type === 'github' ? github : gitlab)
  const complete = (id: bigint, result: 'success' | 'failed') =>
    type === 'github'
      ? github.setRun(id, { status: 'completed', conclusion: result === 'success' ? 'success' : 'failure' })
      : gitlab.setRun(id, { status: result, finishedAt: '2026-01-01 03:04:05 UTC' })
  const proceed = (id: bigint) =>
    type === 'github' ? github.setRun(id, { status: 'in_progress' }) : gitlab.setRun(id, { status: 'running' })

  it('sets the state of a run whose number exceeds the integers of JavaScript, digit by digit', async () => {
    const run = await ours.trigger(ids[type])
    const number = BigInt(String(run.externalId))
    expect(number).toBeGreaterThan(BigInt(Number.MAX_SAFE_INTEGER))
    expect(service().runs.has(number)).toBe(true)
    const neighbour = await ours.trigger(ids[type])
    proceed(number)
    expect(await service().report(number)).toEqual([{ status: 204, text: '' }])
    complete(number, 'success')
    for (let time = 0; time < 2; time++) await service().report(number)
    proceed(number)
    await service().report(number)
    expect(await statuses(ids[type])).toEqual(['queued', 'successful'])
    complete(BigInt(String(neighbour.externalId)), 'failed')
    await service().report(BigInt(String(neighbour.externalId)))
    expect(await statuses(ids[type])).toEqual(['failed', 'successful'])
  })

  it('is refused when it is forged, and before its body is parsed', async () => {
    const run = await ours.trigger(ids[type])
    const number = BigInt(String(run.externalId))
    complete(number, 'success')
    expect(await service().report(number, { secret: 'guess' })).toMatchObject([{ status: 401 }])
    expect(await ours.lastRun(ids[type])).toMatchObject({ status: 'queued' })
    const forged = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}`, 'x-gitlab-token': 'guess' }
    for (const headers of [{}, forged])
      expect((await post(ids[type], paths[type], '{not JSON', headers)).status).toBe(401)
  })

  it('of a run that Crux did not start, or of another event, is accepted and changes nothing', async () => {
    const before = await ours.runs(ids[type])
    const template = [...service().runs.values()][0]
    if (!template) throw new Error('there is no run')
    const foreign = { ...template, id: 5n, title: 'push to main' }
    service().runs.set(5n, foreign as never)
    expect(await service().report(5n)).toEqual([{ status: 204, text: '' }])
    const other = type === 'github' ? github.report(5n, { event: 'ping' }) : gitlab.report(5n, { kind: 'note' })
    expect(await other).toEqual([{ status: 204, text: '' }])
    expect(await ours.runs(ids[type])).toEqual(before)
  })
})

describe('a verified delivery with hostile content', () => {
  const dates = ['-271821-04-20T00:00:00Z', '+275760-09-13T00:00:00Z', 'yesterday', '', 5, null, {}]
  const numbers = [0, -1, 1.5, 1e300, '9223372036854775808', '1'.repeat(40), 'x', null, [], {}]
  const texts = ['\u0000', '\ud800', 'x'.repeat(100_000), 'javascript:alert(1)', 7, null, []]
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`

  it.each(['azure', 'github', 'gitlab'] as const)(
    'of %s is answered, and never with an error of the server',
    async (type) => {
      const run = await ours.trigger(ids[type])
      const id = String(run.externalId)
      const [azureHook] = [...azure.subscriptions.values()]
      const send = (body: string) => {
        const { secret } = [...github.hooks.values()][0] ?? { secret: '' }
        return post(ids[type], paths[type], body, {
          authorization: String(azureHook?.inputs.httpHeaders).replace('Authorization:', ''),
          'x-gitlab-token': String([...gitlab.hooks.values()][0]?.token),
          'x-github-event': 'workflow_run',
          'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
        })
      }
      const toBody = (content: object) =>
        JSON.stringify({
          eventType: 'ms.vss-pipelines.run-state-changed-event',
          resource: { run: content },
          workflow_run: content,
          object_kind: 'pipeline',
          object_attributes: content,
        })
      const contents = [
        ...numbers.map((number) => ({ id: number, state: 'completed', status: 'completed' })),
        ...texts.map((text) => ({
          id,
          state: text,
          status: text,
          display_title: text,
          conclusion: text,
          html_url: text,
          url: text,
        })),
        ...dates.map((date) => ({
          id,
          state: 'inProgress',
          status: 'running',
          finishedDate: date,
          updated_at: date,
          finished_at: date,
        })),
      ]
      const bodies = [
        ...contents.map(toBody),
        '[]',
        'null',
        '"text"',
        deep,
        `{"resource":${deep},"workflow_run":${deep}}`,
      ]
      for (const body of bodies) {
        const { status } = await send(body)
        expect([body.slice(0, 200), status < 500]).toEqual([body.slice(0, 200), true])
      }
      const last = {
        id,
        state: 'completed',
        result: 'succeeded',
        status: type === 'gitlab' ? 'success' : 'completed',
        conclusion: 'success',
      }
      expect(
        (await send(toBody({ ...last, finishedDate: dates[0], updated_at: dates[0], finished_at: dates[1] }))).status,
      ).toBe(204)
      expect(await ours.lastRun(ids[type])).toMatchObject({
        status: 'successful',
        url: expect.stringMatching(/^https:/),
      })
    },
  )
})

describe('a delivery at the address of another type', () => {
  it('is refused, whatever it carries', async () => {
    const [hook] = [...gitlab.hooks.values()]
    const headers = { 'x-gitlab-token': String(hook?.token), authorization: `Bearer ${hook?.token}` }
    expect((await post(ids.gitlab, paths.azure, '{}', headers)).status).toBe(401)
    expect((await post(ids.azure, paths.gitlab, '{}', headers)).status).toBe(401)
    expect((await post(ids.gitlab, paths.gitlab, '{}', headers)).status).toBe(204)
    expect((await post('not-an-id', paths.gitlab, '{}', headers)).status).toBe(401)
  })

  it('is refused when its body is too large, and failed checks of one address are limited', async () => {
    const [hook] = [...gitlab.hooks.values()]
    const body = JSON.stringify({ object_kind: 'pipeline', padding: 'x'.repeat(1_100_000) })
    expect((await post(ids.gitlab, paths.gitlab, body, { 'x-gitlab-token': String(hook?.token) })).status).toBe(413)
    const guess = () => post(ids.gitlab, paths.gitlab, '{}', { 'x-gitlab-token': 'guess' })
    let last = await guess()
    for (let count = 0; count < 110 && last.status === 401; count++) last = await guess()
    expect([last.status, last.headers.get('retry-after')]).toEqual([429, expect.any(String)])
    expect((await post(ids.gitlab, paths.gitlab, '{}', { 'x-gitlab-token': String(hook?.token) })).status).toBe(204)
  })
})
