import { type GithubActions, type GitlabCi, githubWorkflow, startGithubActions, startGitlabCi } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam } from '../../test/kit/index.ts'
import { makeDue, type Pipelines, untilRun, usePipelines } from '../../test/kit/pipelines.ts'

let crux: TestServer
let owner: Someone
let team: TestTeam
let ours: Pipelines
let github: GithubActions
let gitlab: GitlabCi

beforeAll(async () => {
  crux = await startTestServer()
  owner = crux.signUp('Ada')
  team = await crux.createTeam(owner)
  ours = usePipelines(crux, owner, team)
  gitlab = await startGitlabCi()
  await useGithub({})
})
afterEach(() => {
  github.behave()
  gitlab.behave()
})
afterAll(async () => {
  await crux.stop()
  await Promise.all([github?.stop(), gitlab?.stop()])
})

/** The addresses of services are settings: each part of this file has servers of its own. */
async function useGithub(options: Parameters<typeof startGithubActions>[0]): Promise<GithubActions> {
  await github?.stop()
  github = await startGithubActions(options)
  Object.assign(crux.app.config, { githubApiUrl: github.url, gitlabUrl: gitlab.url })
  return github
}

let serial = 0
type Write = Parameters<Pipelines['create']>[0]
const githubWrite = (more: Partial<Write> = {}): Write => ({
  name: `GitHub ${++serial}`,
  type: 'github',
  repository: { organization: 'company', project: 'shop' },
  trigger: { name: 'deploy.yml', inputs: [{ key: 'IMAGE', value: 'web:1' }] },
  token: 'github-pat',
  ...more,
})
const gitlabWrite = (more: Partial<Write> = {}): Write => ({
  name: `GitLab ${++serial}`,
  type: 'gitlab',
  repository: { organization: 'company/apps', project: 'shop' },
  trigger: { name: '', inputs: [{ key: 'IMAGE', value: 'web:1' }] },
  token: 'glpat-secret',
  ...more,
})

describe('a workflow of GitHub', () => {
  it('runs on the default branch with its inputs and the id of our run, and its state is asked for', async () => {
    await useGithub({})
    const made = await ours.create(githubWrite())
    expect(made).toMatchObject({ type: 'github', trigger: { name: 'deploy.yml' }, hook: { state: 'active' } })
    const run = await ours.trigger(made.id)
    const [dispatched] = github.find('POST', '/dispatches')
    expect(dispatched?.body).toEqual({
      ref: 'main',
      inputs: { IMAGE: 'web:1', crux_run: run.id },
      return_run_details: true,
    })
    expect(run).toMatchObject({
      externalId: '9007199254740994',
      url: 'https://github.com/company/shop/actions/runs/9007199254740994',
    })
    github.setRun(9_007_199_254_740_994n, { status: 'completed', conclusion: 'cancelled' })
    expect(await untilRun(crux, ours, made.id, run.id, 'failed')).toMatchObject({
      reason: expect.stringContaining('canceled'),
    })
  })

  it('is found by its name where the server does not tell the number of the run', async () => {
    await useGithub({ returnsRunDetails: false })
    const made = await ours.create(githubWrite())
    const run = await ours.trigger(made.id)
    expect(run).toMatchObject({ status: 'queued', externalId: null })
    const [number] = [...github.runs.keys()]
    github.setRun(number ?? 0n, { status: 'in_progress' })
    expect(await untilRun(crux, ours, made.id, run.id, 'running')).toMatchObject({ externalId: String(number) })
    const [search] = github.find('GET', '/workflows/deploy.yml/runs')
    expect([search?.query.get('event'), search?.query.get('created')]).toEqual([
      'workflow_dispatch',
      expect.stringMatching(/^>=\d{4}-.*Z$/),
    ])
  })

  it('whose start was not answered is found by its name, and not started again', async () => {
    await useGithub({})
    const made = await ours.create(githubWrite())
    github.behave(({ path }) => (path.endsWith('/dispatches') ? 'cut' : undefined))
    const run = await ours.trigger(made.id)
    expect(run).toMatchObject({ status: 'queued', externalId: null })
    github.behave()
    const [number] = [...github.runs.keys()]
    github.setRun(number ?? 0n, { status: 'completed', conclusion: 'success' })
    await untilRun(crux, ours, made.id, run.id, 'successful')
    expect(github.runs.size).toBe(1)
  })

  it('gets its number from a delivery that comes before the answer', async () => {
    await useGithub({ returnsRunDetails: false })
    const made = await ours.create(githubWrite())
    const run = await ours.trigger(made.id)
    const [number] = [...github.runs.keys()]
    github.setRun(number ?? 0n, { status: 'in_progress' })
    expect(await github.report(number ?? 0n)).toMatchObject([{ status: 204 }])
    expect(await ours.lastRun(made.id)).toMatchObject({ id: run.id, status: 'running', externalId: String(number) })
  })

  it('that is not found by its name for ten minutes is unknown, with what its file needs', async () => {
    await useGithub({ returnsRunDetails: false, file: githubWorkflow.replace(/run-name:.*\n/, '') })
    const made = await ours.create(githubWrite())
    const run = await ours.trigger(made.id)
    await makeDue(crux)
    await crux.app.database.pool.query(
      "update crux.pipeline_run set requested_at = now() - interval '11 minutes' where id = $1",
      [run.id],
    )
    expect(await untilRun(crux, ours, made.id, run.id, 'unknown')).toMatchObject({
      reason: expect.stringContaining('run-name'),
    })
  })

  it.each([
    ['with a file that lacks our input', { file: 'on: workflow_dispatch' }, {}, 400, 'trigger.name'],
    ['with a file that cannot be started', { file: 'on: push # crux_run' }, {}, 400, 'trigger.name'],
    ['that does not exist', {}, { trigger: { name: 'missing.yml', inputs: [] } }, 404, 'trigger.name'],
    ['with a path for its file', {}, { trigger: { name: '../../user.yml', inputs: [] } }, 404, 'trigger.name'],
    [
      'of a repository that does not exist',
      {},
      { repository: { organization: 'company', project: 'missing' } },
      404,
      'repository.project',
    ],
    [
      'of a repository named ..',
      {},
      { repository: { organization: 'company', project: '..' } },
      404,
      'repository.project',
    ],
    ['with a wrong token', {}, { token: 'wrong' }, 403, 'token'],
  ] as const)('%s is refused', async (_, options, more, status, property) => {
    await useGithub(options)
    await expect(ours.create(githubWrite(more as never))).rejects.toMatchObject({ status, property })
    expect(github.hooks.size).toBe(0)
  })

  it('with too many inputs, or one that its file does not declare, fails with the way out', async () => {
    await useGithub({})
    const many = Array.from({ length: 25 }, (_, index) => ({ key: `K${index}`, value: '' }))
    const made = await ours.create(githubWrite({ trigger: { name: 'deploy.yml', inputs: many } }))
    await expect(ours.trigger(made.id)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('24 inputs'),
    })
    await expect(ours.trigger(made.id, [{ key: 'UNKNOWN', value: '' }])).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('crux_run'),
    })
    expect((await ours.runs(made.id)).map(({ status }) => status)).toEqual(['failed', 'failed'])
  })

  it('is created with a token that may not create hooks, and says what that needs', async () => {
    await useGithub({ mayCreateHooks: false })
    const made = await ours.create(githubWrite())
    expect(made.hook).toMatchObject({ state: 'failed', problem: expect.stringContaining('admin:repo_hook') })
  })

  it('whose limit of requests is used up gets an error that says so', async () => {
    await useGithub({})
    github.behave(() => ({
      status: 403,
      headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.floor(Date.now() / 1_000) + 90) },
    }))
    await expect(ours.create(githubWrite())).rejects.toMatchObject({
      status: 412,
      message: expect.stringMatching(/no more requests for \d+ seconds/),
    })
  })

  it('keeps one hook when its token is replaced', async () => {
    await useGithub({})
    const made = await ours.create(githubWrite({ name: 'Kept' }))
    expect(await ours.update(made.id, githubWrite({ name: 'Kept' }))).toBeUndefined()
    expect(github.hooks.size).toBe(1)
    expect((await ours.get(made.id)).hook).toMatchObject({ state: 'active' })
  })
})

describe('a pipeline of GitLab', () => {
  it('runs with its inputs as variables, and its state is asked for', async () => {
    const made = await ours.create(gitlabWrite())
    expect(gitlab.requests[0]?.path).toBe('/api/v4/projects/company%2Fapps%2Fshop')
    const run = await ours.trigger(made.id)
    expect(gitlab.find('POST', '/pipeline')[0]?.body).toEqual({
      ref: 'main',
      variables: [{ key: 'IMAGE', value: 'web:1' }],
    })
    expect(run).toMatchObject({ externalId: '9007199254750002' })
    gitlab.setRun(9_007_199_254_750_002n, { status: 'success', finishedAt: '2026-01-01T00:00:00Z' })
    expect(await untilRun(crux, ours, made.id, run.id, 'successful')).toMatchObject({ reason: null })
  })

  it.each([
    [
      'of a project that does not exist',
      { repository: { organization: 'company/apps', project: 'missing' } },
      404,
      'repository.project',
    ],
    [
      'of a group with a wrong path',
      { repository: { organization: 'company/../x', project: 'shop' } },
      404,
      'repository.organization',
    ],
    ['with a wrong token', { token: 'wrong' }, 403, 'token'],
  ])('%s is refused', async (_, more, status, property) => {
    await expect(ours.create(gitlabWrite(more as never))).rejects.toMatchObject({ status, property })
  })

  it.each([
    ['created', 'queued'],
    ['waiting_for_resource', 'queued'],
    ['running', 'running'],
    ['manual', 'running'],
    ['skipped', 'failed'],
    ['canceled', 'failed'],
    ['failed', 'failed'],
  ])('with the state %s leads to the status %s', async (state, status) => {
    const made = await ours.create(gitlabWrite())
    const run = await ours.trigger(made.id)
    const number = BigInt(String(run.externalId))
    gitlab.setRun(number, { status: state })
    await gitlab.report(number)
    expect(await ours.lastRun(made.id)).toMatchObject({ status })
    await ours.remove(made.id)
  })

  it('moves to GitHub with a new token, and its hook is deleted with the old one', async () => {
    await useGithub({})
    const made = await ours.create(gitlabWrite())
    const hooks = gitlab.hooks.size
    expect(await ours.update(made.id, githubWrite())).toBeUndefined()
    expect([gitlab.hooks.size, github.hooks.size]).toEqual([hooks - 1, 1])
    expect(await ours.get(made.id)).toMatchObject({ type: 'github' })
    expect(github.requests.every(({ headers }) => !JSON.stringify(headers).includes('glpat-secret'))).toBe(true)
  })
})
