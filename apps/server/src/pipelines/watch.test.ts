import { randomUUID } from 'node:crypto'
import { mergePipelineInputs } from '@crux/rules'
import { type AzureDevOps, startAzureDevOps, startRegistry } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam, until } from '../../test/kit/index.ts'
import { makeDue, type Pipelines, toAzureWrite, usePipelines } from '../../test/kit/pipelines.ts'
import { inTransaction } from '../db/transaction.ts'
import { recordTeamEvent, type TeamEventOf } from '../team-events/index.ts'
import { needsLabels, replacePlaceholders } from './placeholders.ts'
import { isWatched, startWatchedRuns } from './watch.ts'

let azure: AzureDevOps
let crux: TestServer
let owner: Someone
let team: TestTeam
let ours: Pipelines
let registryId: string
let pipelineId: string

beforeAll(async () => {
  azure = await startAzureDevOps()
  crux = await startTestServer({ config: { azureUrl: azure.url } })
  owner = crux.signUp('Ada')
  team = await crux.createTeam(owner)
  ours = usePipelines(crux, owner, team)
  registryId = await insertRegistry(team.id, 'registry.example.com')
})
beforeEach(async () => {
  const inputs = [
    { key: 'STAGE', value: 'dev' },
    { key: 'IMAGE', value: 'none' },
  ]
  pipelineId = (await ours.create(toAzureWrite(azure, { trigger: { name: 'deploy', inputs } }))).id
})
afterEach(async () => {
  azure.behave()
  await ours.remove(pipelineId)
})
afterAll(async () => {
  await crux.stop()
  await azure.stop()
})

async function insertRegistry(teamId: string, url: string, more: { type?: string; prefix?: string | null } = {}) {
  const { rows } = await crux.app.database.pool.query<{ id: string }>(
    `insert into crux.registry (team_id, name, type, url, image_name_prefix, public, created_by, updated_by)
     values ($1, $2, $3, $4, $5, true, 's', 's') returning id`,
    [teamId, `Registry ${randomUUID()}`, more.type ?? 'v2', url, more.prefix ?? null],
  )
  return rows[0]?.id ?? ''
}

type ImageEvent = TeamEventOf<'image-pushed' | 'image-pulled'>
const toEvent = (more: Partial<ImageEvent> = {}): ImageEvent => ({
  key: randomUUID(),
  teamId: team.id,
  at: new Date().toISOString(),
  type: 'image-pushed',
  registryId,
  registryName: 'Registry',
  imageName: 'shop/web',
  tag: '1.2.3',
  ...more,
})
type Watch = Parameters<Pipelines['watch']>[1]
const watch = (more: Partial<Watch> = {}) =>
  ours.watch(pipelineId, { name: 'On push', event: 'image-push', filters: {}, registryId, triggerInputs: [], ...more })
const variables = () => {
  const run = [...azure.runs.values()].at(-1)
  return Object.fromEntries(Object.entries(run?.variables ?? {}).map(([key, { value }]) => [key, value]))
}

describe('an event watcher', () => {
  it('is created, listed, updated and deleted', async () => {
    const made = await watch({
      filters: { imageNameStartsWith: 'shop/' },
      triggerInputs: [{ key: 'A', value: '{{imageTag}}' }],
    })
    expect((await ours.get(pipelineId)).eventWatchers).toEqual([made])
    expect(made).toMatchObject({ filters: { imageNameStartsWith: 'shop/' }, registry: { id: registryId, type: 'v2' } })
    const at = { params: { teamSlug: team.slug, pipelineId, eventWatcherId: made.id } }
    const { call } = crux.client(owner)
    await call('pipelines.update-event-watcher', {
      ...at,
      body: { name: 'Pulls', event: 'image-pull', filters: { imageNameStartsWith: null }, registryId },
    })
    expect((await ours.get(pipelineId)).eventWatchers).toMatchObject([
      { id: made.id, name: 'Pulls', event: 'image-pull', filters: { imageNameStartsWith: '' }, triggerInputs: [] },
    ])
    const other = await ours.create(toAzureWrite(azure))
    const elsewhere = { params: { ...at.params, pipelineId: other.id } }
    await expect(call('pipelines.delete-event-watcher', elsewhere)).rejects.toMatchObject({
      status: 404,
      property: 'eventWatcherId',
    })
    await call('pipelines.delete-event-watcher', at)
    expect((await ours.get(pipelineId)).eventWatchers).toEqual([])
    await ours.remove(other.id)
  })

  it('is refused with a registry of another team, or one that does not report its event', async () => {
    const other = await crux.createTeam(crux.signUp('Eve'))
    const foreign = await insertRegistry(other.id, 'registry.example.com')
    await expect(watch({ registryId: foreign })).rejects.toMatchObject({ status: 404, property: 'registryId' })
    const silent = await insertRegistry(team.id, 'registry.example.com', { type: 'unchecked' })
    await expect(watch({ registryId: silent })).rejects.toMatchObject({ status: 400, property: 'registryId' })
    const hub = await insertRegistry(team.id, 'hub.docker.com', { type: 'hub' })
    await expect(watch({ registryId: hub, event: 'image-pull' })).rejects.toMatchObject({
      status: 400,
      property: 'registryId',
    })
    await expect(watch({ registryId: hub })).resolves.toBeDefined()
  })

  it('starts a run for a recorded event, with its inputs over those of the pipeline', async () => {
    const made = await watch({
      filters: { imageNameStartsWith: 'shop/' },
      triggerInputs: [
        { key: 'IMAGE', value: '{{ imageName }}:{{imageTag}} again {{imageName}}:{{  imageTag  }}' },
        { key: 'EXTRA', value: '1' },
      ],
    })
    await inTransaction(crux.app.database, (queries) => recordTeamEvent(crux.app, queries, toEvent()))
    const run = await until(async () => (await ours.runs(pipelineId)).find(({ externalId }) => externalId))
    expect(run).toMatchObject({
      status: 'queued',
      creatorType: 'eventWatcher',
      eventWatcher: { id: made.id, name: 'On push' },
    })
    expect(run.startedBy).toBeUndefined()
    expect(variables()).toEqual({ STAGE: 'dev', IMAGE: 'shop/web:1.2.3 again shop/web:1.2.3', EXTRA: '1' })
    expect(run.inputs?.map(({ value }) => value)).toEqual(Object.values(variables()))
  })

  it('of pulls starts a run for a pull and none for a push', async () => {
    await watch({ event: 'image-pull', triggerInputs: [{ key: 'IMAGE', value: '{{imageName}}:{{imageTag}}' }] })
    await startWatchedRuns(crux.app, toEvent())
    expect(await ours.runs(pipelineId)).toEqual([])
    await startWatchedRuns(crux.app, toEvent({ type: 'image-pulled', tag: '2.0' }))
    await until(async () => (await ours.runs(pipelineId))[0]?.externalId)
    expect(variables().IMAGE).toBe('shop/web:2.0')
  })

  it('starts one run of one event, however often and on however many servers it is handled', async () => {
    await watch()
    const second = await startTestServer({
      database: crux.database,
      people: crux.people,
      config: { azureUrl: azure.url, encryption: crux.app.config.encryption },
    })
    const event = toEvent()
    const before = azure.runs.size
    await Promise.all(
      Array.from({ length: 8 }, (_, index) => startWatchedRuns(index % 2 ? crux.app : second.app, event)),
    )
    await until(async () => (await ours.runs(pipelineId))[0]?.externalId)
    await startWatchedRuns(second.app, event)
    await makeDue(crux)
    await until(async () => (await ours.runs(pipelineId))[0]?.status === 'running')
    expect(await ours.runs(pipelineId)).toHaveLength(1)
    expect(azure.runs.size).toBe(before + 1)
    await startWatchedRuns(crux.app, toEvent())
    await until(async () => (await ours.runs(pipelineId)).length === 2)
    await second.stop({ database: true })
  })

  it('ignores other events, registries and teams, names that do not begin with its filter, and images without a tag', async () => {
    await watch({ filters: { imageNameStartsWith: 'shop/w' } })
    const other = await crux.createTeam(crux.signUp('Eve'))
    const ignored: Partial<ImageEvent>[] = [
      { registryId: await insertRegistry(team.id, 'other.example.com') },
      { teamId: other.id },
      { imageName: 'shop/api' },
      { imageName: 'other/shop/web' },
    ]
    for (const more of ignored) await startWatchedRuns(crux.app, toEvent(more))
    await startWatchedRuns(crux.app, { ...toEvent(), type: 'image-pulled' })
    const { tag: _, ...untagged } = toEvent()
    await startWatchedRuns(crux.app, untagged)
    expect(await ours.runs(pipelineId)).toEqual([])
  })

  it('keeps its run when the service is down, and starts it once the service is back', async () => {
    await watch()
    await azure.stop()
    await startWatchedRuns(crux.app, toEvent())
    const isReleased = async () =>
      (
        await crux.app.database.pool.query(
          'select checks > 0 and requested_at is null as released from crux.pipeline_run where pipeline_id = $1',
          [pipelineId],
        )
      ).rows[0].released
    await until(isReleased)
    expect(await ours.lastRun(pipelineId)).toMatchObject({ status: 'queued', externalId: null })
    azure = await startAzureDevOps()
    Object.assign(crux.app.config, { azureUrl: azure.url })
    await makeDue(crux)
    await until(async () => (await ours.lastRun(pipelineId)).externalId)
    expect(azure.runs.size).toBe(1)
  })

  it('leaves its name in its runs when it is deleted, also together with its registry', async () => {
    const own = await insertRegistry(team.id, 'short-lived.example.com')
    await watch({ registryId: own, name: 'Short-lived' })
    await startWatchedRuns(crux.app, toEvent({ registryId: own }))
    await until(async () => (await ours.lastRun(pipelineId)).externalId)
    await crux.client(owner).call('registries.delete', { params: { teamSlug: team.slug, registryId: own } })
    expect((await ours.get(pipelineId)).eventWatchers).toEqual([])
    expect(await ours.lastRun(pipelineId)).toMatchObject({ eventWatcher: { id: null, name: 'Short-lived' } })
  })

  it('is refused when the pipeline has too many', async () => {
    await crux.app.database.pool.query(
      `insert into crux.pipeline_event_watcher (pipeline_id, registry_id, name, event, created_by, updated_by)
       select $1, $2, 'Many', 'image-push', 's', 's' from generate_series(1, 49)`,
      [pipelineId, registryId],
    )
    const results = await Promise.allSettled(Array.from({ length: 4 }, () => watch()))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await ours.get(pipelineId)).eventWatchers).toHaveLength(50)
  })
})

describe('labels of the image', () => {
  it('are read from the registry where a placeholder needs them, below its prefix', async () => {
    const registry = await startRegistry()
    await registry.push('company/web', '2.0', {
      labels: { 'org.example.a+b': 'first', version: '<b>{{imageTag}}</b>' },
    } as never)
    const own = await insertRegistry(team.id, registry.host, { prefix: 'company' })
    await watch({
      registryId: own,
      filters: { imageNameStartsWith: 'web' },
      triggerInputs: [
        { key: 'IMAGE', value: '{{ label:org.example.a+b }}|{{label:version}}|{{label:missing}}|{{label:version}}' },
      ],
    })
    await startWatchedRuns(crux.app, toEvent({ registryId: own, imageName: 'company/web', tag: '2.0' }))
    await until(async () => (await ours.lastRun(pipelineId)).externalId)
    expect(variables().IMAGE).toBe('first|<b>{{imageTag}}</b>||<b>{{imageTag}}</b>')
    await registry.stop()
  })

  it('that cannot be read fail the run with the reason, and it is not lost', async () => {
    const registry = await startRegistry()
    const own = await insertRegistry(team.id, registry.host)
    await watch({ registryId: own, triggerInputs: [{ key: 'IMAGE', value: '{{label:version}}' }] })
    await startWatchedRuns(crux.app, toEvent({ registryId: own, imageName: 'missing/image' }))
    const run = await until(async () => {
      await makeDue(crux)
      const last = await ours.lastRun(pipelineId)
      return last.status === 'failed' ? last : undefined
    })
    expect(run.reason).toMatch(/^The labels of missing\/image:1\.2\.3 could not be read: /)
    await registry.stop()
  })
})

describe('placeholders', () => {
  const event = { registryId: '', imageName: 'shop/web', tag: '$&$1' }
  it.each([
    ['{{imageName}}{{ imageName }}{{\timageName\n}}', 'shop/webshop/webshop/web'],
    ['{{ imageTag }}', '$&$1'],
    ['{{ label:a.b*c(d }}/{{label:a.b*c(d}}', '{{imageTag}}/{{imageTag}}'],
    ['{{label:__proto__}}{{label:constructor}}{{label:}}', ''],
    ['{{ imagename }} {{ other }} {imageName} {{imageName', '{{ imagename }} {{ other }} {imageName} {{imageName'],
  ])('%s are replaced wherever they are, once', (text, result) => {
    expect(replacePlaceholders(text, event, { 'a.b*c(d': '{{imageTag}}' })).toBe(result)
  })

  it('of labels alone need the registry', () => {
    expect(needsLabels([{ key: 'a', value: '{{imageName}} {{ label:x }}' }])).toBe(true)
    expect(needsLabels([{ key: 'a', value: '{{imageName}} label:x' }])).toBe(false)
  })

  it('are found in long hostile texts in no time', () => {
    const hostile = '{{ '.repeat(3_000)
    expect(replacePlaceholders(hostile, event, {})).toBe(hostile)
    const labels = '{{ label:'.repeat(900) + ' '.repeat(80)
    expect(replacePlaceholders(labels, event, {})).toBe(labels)
  })
})

describe('inputs', () => {
  it('of a watcher override those with the same key or id, and are added otherwise', () => {
    const pipeline = [
      { id: '1', key: 'A', value: 'a' },
      { id: '2', key: 'B', value: 'b' },
    ]
    expect(
      mergePipelineInputs(pipeline, [
        { key: 'A', value: 'x' },
        { id: '2', key: 'C', value: 'c' },
        { key: 'D', value: 'd' },
      ]),
    ).toEqual([
      { key: 'A', value: 'x' },
      { id: '2', key: 'C', value: 'c' },
      { key: 'D', value: 'd' },
    ])
    expect(mergePipelineInputs(pipeline, [])).toEqual(pipeline)
  })

  it.each([
    ['', null, 'any/image', true],
    ['shop', null, 'shop/web', true],
    ['web', 'company', 'company/web', true],
    ['company/web', 'company', 'company/web', true],
    ['eb', 'company', 'company/web', false],
    ['.*', null, 'shop/web', false],
  ])(
    'the filter %j with the prefix %j and the image %s: %s',
    (imageNameStartsWith, imageNamePrefix, name, expected) => {
      expect(isWatched({ imageNameStartsWith, imageNamePrefix }, name)).toBe(expected)
    },
  )
})
