import { type AzureDevOps, startAzureDevOps } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam, until } from '../../test/kit/index.ts'
import { makeDue, type Pipelines, toAzureWrite, usePipelines } from '../../test/kit/pipelines.ts'

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
}, 120_000)
afterEach(() => azure.behave())
afterAll(async () => {
  await crux.stop()
  await azure.stop()
})

const sent = () => [...azure.runs.values()].at(-1)
const statusOf = async (id: string) => (await ours.runs(pipelineId)).find((run) => run.id === id)
/** Makes a run due until the condition holds: a claim of this moment may have read the state before. */
const checked = (id: string, status: string) =>
  until(async () => {
    await makeDue(crux)
    const run = await statusOf(id)
    return run?.status === status ? run : undefined
  })

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
    const done = await statusOf(run.id)
    expect(done).toMatchObject({ status: 'successful', finishedAt: expect.any(String), reason: null })
    await until(() => heard.some(({ runId, status }) => runId === run.id && status === 'successful'))
  })
})
