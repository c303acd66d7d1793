import { type AzureDevOps, startAzureDevOps } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam } from '../../test/kit/index.ts'
import { type Pipelines, toAzureWrite, usePipelines } from '../../test/kit/pipelines.ts'

let azure: AzureDevOps
let crux: TestServer
let owner: Someone
let team: TestTeam
let ours: Pipelines

beforeAll(async () => {
  azure = await startAzureDevOps({
    pipelines: [
      { id: 42, name: 'deploy' },
      { id: 43, name: 'build' },
      { id: 44, name: 'build', folder: '\\nightly' },
      { id: 45, name: 'last' },
    ],
    perPage: 2,
  })
  crux = await startTestServer({ config: { azureUrl: azure.url } })
  owner = crux.signUp('Ada')
  team = await crux.createTeam(owner)
  ours = usePipelines(crux, owner, team)
})
afterEach(() => azure.behave())
afterAll(async () => {
  await crux.stop()
  await azure.stop()
})

const write = (more: Parameters<typeof toAzureWrite>[1] = {}) => toAzureWrite(azure, more)
const hooks = () => [...azure.subscriptions.values()]

describe('a pipeline of Azure DevOps', () => {
  it('is created, listed, updated and deleted, with its hook at the service', async () => {
    const made = await ours.create(
      write({
        name: 'Deploy',
        description: 'To production',
        icon: 'seal',
        trigger: { name: 'Deploy', inputs: [{ key: 'A', value: '1' }] },
      }),
    )
    expect(made).toMatchObject({
      name: 'Deploy',
      type: 'azure',
      repository: { organization: 'company', project: 'shop', branch: null },
      trigger: { name: 'Deploy', inputs: [{ id: expect.any(String), key: 'A', value: '1' }] },
      eventWatchers: [],
      audit: { createdBy: 'Ada' },
      hook: { state: 'active', problem: null },
    })
    expect(hooks()).toMatchObject([
      {
        pipelineId: '42',
        url: expect.stringContaining(`/api/${team.slug}/pipelines/${made.id}/hooks/azure/pipeline-state`),
      },
    ])
    expect(await ours.list()).toEqual([
      {
        id: made.id,
        name: 'Deploy',
        type: 'azure',
        description: 'To production',
        icon: 'seal',
        repository: { organization: 'company', project: 'shop', branch: null },
        trigger: 'Deploy',
      },
    ])
    const before = azure.requests.length
    expect(
      await ours.update(made.id, write({ name: 'Renamed', token: null, trigger: { name: 'Deploy', inputs: [] } })),
    ).toBeUndefined()
    expect(azure.requests.length).toBe(before)
    expect(await ours.get(made.id)).toMatchObject({ name: 'Renamed', trigger: { inputs: [] } })
    expect(await ours.remove(made.id)).toBeUndefined()
    expect(hooks()).toEqual([])
    await expect(ours.get(made.id)).rejects.toMatchObject({ status: 404, property: 'pipelineId' })
  })

  it('is found on any page of the list, and by its folder where its name is not unique', async () => {
    const last = await ours.create(write({ trigger: { name: 'last', inputs: [] } }))
    await expect(ours.create(write({ trigger: { name: 'build', inputs: [] } }))).resolves.toBeDefined()
    const nightly = await ours.create(write({ trigger: { name: 'nightly\\build', inputs: [] } }))
    expect(hooks().map(({ pipelineId }) => pipelineId)).toEqual(['45', '43', '44'])
    for (const { id } of [last, nightly]) await ours.remove(id)
  })

  it.each([
    [{ token: null }, 400, 'token'],
    [{ token: 'wrong' }, 403, 'token'],
    [{ trigger: { name: 'missing', inputs: [] } }, 404, 'trigger.name'],
    [{ trigger: { name: '', inputs: [] } }, 404, 'trigger.name'],
    [{ repository: { organization: 'company', project: 'missing' } }, 404, 'repository.project'],
    [{ repository: { organization: 'company', project: '..' } }, 404, 'repository.project'],
    [{ repository: { organization: '../x', project: 'shop' } }, 404, 'repository.organization'],
    [
      {
        trigger: {
          name: 'deploy',
          inputs: [
            { key: 'A', value: '' },
            { key: 'A', value: '' },
          ],
        },
      },
      400,
      'trigger.inputs[1].key',
    ],
    [
      {
        trigger: {
          name: 'deploy',
          inputs: Array.from({ length: 9 }, (_, i) => ({ key: `K${i}`, value: 'x'.repeat(8_000) })),
        },
      },
      400,
      'trigger.inputs',
    ],
  ])('with %j is refused, and nothing of it remains', async (more, status, property) => {
    const [rows, subscriptions] = [await ours.list(), hooks().length]
    await expect(ours.create(write(more as never))).rejects.toMatchObject({ status, property })
    expect(await ours.list()).toEqual(rows)
    expect(hooks()).toHaveLength(subscriptions)
  })

  it('is refused with a name that is taken, and its new hook is deleted again', async () => {
    const made = await ours.create(write({ name: 'Taken' }))
    const subscriptions = hooks().length
    await expect(ours.create(write({ name: 'Taken' }))).rejects.toMatchObject({ status: 409, property: 'name' })
    expect(hooks()).toHaveLength(subscriptions)
    await ours.remove(made.id)
  })

  it('is not created while the service cannot be asked, with the reason and nothing of its answer', async () => {
    azure.behave(() => ({ status: 500, text: 'stack trace with azure-pat' }))
    const refused = await ours.create(write()).catch((error: unknown) => error)
    expect(refused).toMatchObject({ status: 412, property: 'repository' })
    expect(String(refused)).not.toContain('stack trace')
    azure.behave(() => ({ status: 429, headers: { 'retry-after': '17' } }))
    await expect(ours.create(write())).rejects.toMatchObject({
      status: 412,
      message: expect.stringContaining('17 seconds'),
    })
  })

  it('is created without a hook where the service refuses one, and says why', async () => {
    azure.behave(({ path, method }) =>
      method === 'POST' && path.endsWith('subscriptions') ? { status: 403, body: {} } : undefined,
    )
    const made = await ours.create(write())
    expect(made.hook).toMatchObject({ state: 'failed', problem: expect.stringContaining('project administrator') })
    azure.behave()
    await ours.update(made.id, write({ token: null }))
    expect((await ours.get(made.id)).hook).toMatchObject({ state: 'active', problem: null })
    await ours.remove(made.id)
  })

  it('keeps its token sealed, and shows it neither in answers nor in the audit log', async () => {
    const made = await ours.create(write())
    const { rows } = await crux.app.database.pool.query(
      'select p.token, h.secret from crux.pipeline p join crux.pipeline_hook h on h.pipeline_id = p.id where p.id = $1',
      [made.id],
    )
    expect(crux.app.cipher.decrypt(rows[0].token, { column: 'pipeline.token', row: made.id })).toBe(azure.token)
    const secret = crux.app.cipher.decrypt(rows[0].secret, { column: 'pipeline_hook.secret', row: made.id })
    expect(hooks().at(-1)?.inputs.httpHeaders).toBe(`Authorization:Bearer ${secret}`)
    const audit = await crux.app.database.pool.query('select * from crux.audit_log where team_id = $1', [team.id])
    const shown = JSON.stringify([made, await ours.get(made.id), await ours.list(), audit.rows])
    expect(audit.rows.length).toBeGreaterThan(0)
    for (const hidden of [azure.token, secret]) expect(shown).not.toContain(hidden)
    await ours.remove(made.id)
  })
})

describe('a pipeline that moves', () => {
  it('gets its new hook before the old one is deleted, and asks no more for runs at the old place', async () => {
    const made = await ours.create(write())
    const [before] = hooks().slice(-1)
    const run = await ours.trigger(made.id)
    const from = azure.requests.length
    expect(await ours.update(made.id, write({ token: null, trigger: { name: 'last', inputs: [] } }))).toBeUndefined()
    const changes = azure.requests.slice(from).filter(({ path }) => path.includes('subscriptions'))
    expect(changes.map(({ method, path }) => [method, path.split('/').at(-1)])).toEqual([
      ['POST', 'subscriptions'],
      ['DELETE', before?.id],
    ])
    expect(hooks().at(-1)).toMatchObject({ pipelineId: '45' })
    expect(await ours.lastRun(made.id)).toMatchObject({
      id: run.id,
      status: 'unknown',
      reason: expect.stringContaining('another place'),
    })
    await ours.trigger(made.id)
    expect(azure.find('POST', '/pipelines/45/runs')).toHaveLength(1)
    await ours.remove(made.id)
  })

  it('tells in the answer when the old hook could not be deleted, and has moved nevertheless', async () => {
    const made = await ours.create(write())
    azure.behave(({ method }) => (method === 'DELETE' ? { status: 500 } : undefined))
    const answer = await ours.update(made.id, write({ token: null, trigger: { name: 'last', inputs: [] } }))
    expect(answer).toMatchObject({ hook: { deleted: false, description: expect.stringContaining('company/shop') } })
    expect(await ours.get(made.id)).toMatchObject({ trigger: { name: 'last' }, hook: { state: 'active' } })
    expect(await ours.remove(made.id)).toMatchObject({ hook: { deleted: false } })
    await expect(ours.get(made.id)).rejects.toMatchObject({ status: 404 })
  })

  it('stays as it was when the new place does not exist or its service is down', async () => {
    const made = await ours.create(write())
    const before = [await ours.get(made.id), hooks().length]
    await expect(
      ours.update(made.id, write({ token: null, trigger: { name: 'missing', inputs: [] } })),
    ).rejects.toMatchObject({ status: 404, property: 'trigger.name' })
    azure.behave(() => ({ status: 502 }))
    await expect(
      ours.update(made.id, write({ token: null, trigger: { name: 'last', inputs: [] } })),
    ).rejects.toMatchObject({ status: 412 })
    expect([await ours.get(made.id), hooks().length]).toEqual(before)
    await ours.remove(made.id)
  })

  it('needs a token of the new service when its type changes', async () => {
    const made = await ours.create(write())
    await expect(ours.update(made.id, write({ type: 'gitlab', token: null }))).rejects.toMatchObject({
      status: 400,
      property: 'token',
    })
    await ours.remove(made.id)
  })

  it('is not changed by a request that another one has overtaken, whose new hook is deleted', async () => {
    const made = await ours.create(write())
    azure.behave(async ({ method, path }) => {
      if (method === 'GET' && path.endsWith('/projects'))
        await crux.app.database.pool.query(
          "update crux.pipeline set updated_at = now() + interval '1 second' where id = $1",
          [made.id],
        )
      return undefined
    })
    const subscriptions = hooks().length
    await expect(
      ours.update(made.id, write({ token: null, trigger: { name: 'last', inputs: [] } })),
    ).rejects.toMatchObject({ status: 412, property: 'pipelineId' })
    expect(hooks()).toHaveLength(subscriptions)
    await ours.remove(made.id)
  })
})
