import type { Release } from '@crux/agent-protocol'
import type { Client } from '@crux/client'
import type { ContainerConfigFields } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  badNews,
  type DeployTestEnvironment,
  deployWell,
  journal,
  makeDeployTestEnvironment,
} from '../../test/deploy-kit.ts'
import { type Someone, startTestServer, type TestServer } from '../../test/kit/index.ts'
import { keyOne, sealFor } from '../../test/node-keys.ts'
import { makePackageKit, named, type PackageKit, type TestChain } from '../../test/package-kit.ts'
import type { ScriptedAgent } from '../../test/scripted-agent.ts'
import { recordTeamEvent } from '../team-events/index.ts'

let crux: TestServer
let other: TestServer
let ours: DeployTestEnvironment
let theirs: DeployTestEnvironment
let user: Someone
let kit: PackageKit
beforeAll(async () => {
  crux = await startTestServer()
  // Another server on the same database.
  other = await startTestServer({
    database: crux.database,
    people: crux.people,
    config: { encryption: crux.app.config.encryption },
  })
  ours = await makeDeployTestEnvironment(crux)
  theirs = await makeDeployTestEnvironment(crux)
  user = await crux.addMember(ours.team, 'user', 'Uma')
  kit = makePackageKit(ours, crux.client(user))
})
afterAll(async () => {
  await other.stop({ database: true })
  await crux.stop()
})

const sql = <R extends object = { n: number }>(text: string, values: unknown[] = []) =>
  crux.app.database.pool.query<R>(text, values).then(({ rows }) => rows)
const of = (deploymentId: string) => ({ ...ours.params, deploymentId })
const patch = (configId: string | undefined, config: object) =>
  ours.client.call('container-configurations.update', {
    params: { ...ours.params, configId: configId ?? '' },
    body: { config },
  })
type Path = { teamSlug: string; packageId: string; environmentId: string }
const promote = (params: Path, versionId: string | undefined, more: object = {}, as: Client = crux.client(user)) =>
  as.call('packages.promote', { params, body: { versionId: versionId ?? '', ...more } })
const preview = (params: Path, versionId: string | undefined, as: Client = crux.client(user)) =>
  as.call('packages.preview-promotion', { params, query: { versionId: versionId ?? '' } })
const history = async (params: Path) =>
  (await kit.call('packages.promotions', { params, query: { skip: 0, take: 100 } })).items

/** A package with one chain and the environments dev and prod, each on a node of its own with its agent. */
async function makeSystem(chain?: TestChain, withAgents = true) {
  const used = chain ?? (await kit.chain(['1', '2', '3']))
  const made = await kit.package([used.chainId])
  const place = async (name: string) => {
    const node = await ours.node()
    const agent = withAgents ? await ours.agent(node) : undefined
    const prefix = named(name).replace(' ', '')
    const { id } = await kit.environment(made.id, node.id, name, prefix)
    return { node, agent: agent as ScriptedAgent, prefix, params: { ...kit.at(made.id), environmentId: id } }
  }
  return { ...used, packageId: made.id, dev: await place('dev'), prod: await place('prod') }
}
const runAt = (system: Awaited<ReturnType<typeof makeSystem>>, where: 'dev' | 'prod', version: number, nth: number) => {
  const { node, prefix, agent } = system[where]
  return kit.run(system.versions[version] ?? '', { nodeId: node.id, prefix }, agent, nth)
}

describe('a promotion', () => {
  it('starts a new deployment with the configuration, bundles and secrets of the version that ran there', async () => {
    const chain = await kit.chain(['1', '2'], (index) =>
      index === 0
        ? [{ name: 'web', config: { environment: [{ key: 'FROM', value: 'image 1' }] } }, { name: 'gone' }]
        : [
            { name: 'new', config: { environment: [{ key: 'ONLY', value: 'image' }] } },
            { name: 'web', tag: '2.0' },
          ],
    )
    const system = await makeSystem(chain)
    const { node, prefix, agent, params } = system.prod
    const source = await ours.client.call('deployments.create', {
      params: ours.params,
      body: { versionId: chain.versions[0] ?? '', nodeId: node.id, prefix, protected: true, note: 'of the source' },
    })
    const bundle = await ours.client.call('config-bundles.create', { params: ours.params, body: { name: named('B') } })
    await ours.client.call('deployments.update', {
      params: of(source.id),
      body: { prefix, protected: true, configBundles: [bundle.id] },
    })
    const details = await ours.get(source.id)
    await patch(details.config.id, { environment: [{ key: 'STAGE', value: 'prod' }] })
    const web = details.instances.find(({ image }) => image.name === 'web')
    const value = await sealFor(keyOne, 'hidden')
    const secret = { key: 'PASSWORD', required: false, encrypted: true, publicKey: keyOne, value }
    await patch(web?.config.id, { environment: [{ key: 'REPLICA', value: '7' }], secrets: [secret] })
    await ours.start(source.id)
    await deployWell(agent, 1)
    await ours.waitForStatus(source.id, 'successful')

    // The protection of the running version holds until an admin overrides it, and is not copied.
    await expect(promote(params, chain.versions[1])).rejects.toMatchObject({
      status: 412,
      property: 'protectedDeploymentId',
      value: source.id,
    })
    const body = { note: 'second', fromEnvironmentId: system.dev.params.environmentId, ignoreProtected: true }
    const promoted = await promote(params, chain.versions[1], body, ours.client)
    expect(promoted).toMatchObject({
      version: { id: chain.versions[1], name: '2' },
      project: { id: chain.projectId },
      from: { id: system.dev.params.environmentId, name: 'dev' },
      createdBy: { id: ours.owner.id, name: ours.owner.name },
      note: 'second',
      releaseNumber: 1,
      status: 'in-progress',
    })
    const created = await ours.get(promoted.deploymentId ?? '')
    expect(created).toMatchObject({ prefix, protected: false, note: 'second', node: { id: node.id } })
    expect(created.config.environment).toMatchObject([{ key: 'STAGE', value: 'prod' }])
    expect(created.configBundles.map(({ id }) => id)).toEqual([bundle.id])
    expect(created.instances.map(({ image }) => [image.name, image.tag])).toEqual([
      ['new', '1.0'],
      ['web', '2.0'],
    ])
    const [unmatched, copied] = created.instances
    expect(unmatched?.config.environment ?? null).toBeNull()
    expect(copied?.config.environment).toMatchObject([{ key: 'REPLICA', value: '7' }])
    const images = await sql<{ versionId: string }>(
      `select distinct i.version_id as "versionId" from crux.instance inst join crux.image i on i.id = inst.image_id
       where inst.deployment_id = $1`,
      [created.id],
    )
    expect(images).toEqual([{ versionId: chain.versions[1] }])

    const release = await deployWell(agent, 2)
    const configs = release.instances.map(({ configJson }) => JSON.parse(configJson))
    expect(configs.map(({ environment }) => environment.map((row: { key: string }) => row.key).sort())).toEqual([
      ['ONLY', 'STAGE'],
      ['REPLICA', 'STAGE'],
    ])
    expect(configs[1].secrets).toMatchObject([{ key: 'PASSWORD', value }])
    await ours.waitForStatus(created.id, 'successful')
    expect(await history(params)).toMatchObject([{ id: promoted.id, status: 'successful' }])
  })

  it('copies from the nearest earlier version, by the links of parents and not by age', async () => {
    const system = await makeSystem(await kit.chain(['1', '2', '3', '4']), false)
    const { node, prefix, params } = system.dev
    const deploy = async (version: number, key: string, status: string) => {
      const { id } = await ours.client.call('deployments.create', {
        params: ours.params,
        body: { versionId: system.versions[version] ?? '', nodeId: node.id, prefix, protected: false },
      })
      await patch((await ours.get(id)).config.id, { environment: [{ key, value: 'x' }] })
      await sql('update crux.deployment set status = $2 where id = $1', [id, status])
      return id
    }
    const sourceOf = async (version: number) => (await preview(params, system.versions[version])).source?.deploymentId
    expect(await sourceOf(3)).toBeUndefined()
    // A later version is no source, and neither is a deployment elsewhere.
    const later = await deploy(3, 'LATER', 'successful')
    expect(await sourceOf(2)).toBeUndefined()
    await sql('delete from crux.deployment where id = $1', [later])
    const [third, second] = [await deploy(2, 'THIRD', 'failed'), await deploy(1, 'SECOND', 'successful')]
    expect(await sourceOf(3)).toBe(third)
    // Of one version, one that ran comes before one that was only prepared or has failed.
    const ran = await deploy(2, 'RAN', 'obsolete')
    const prepared = await deploy(2, 'PREPARED', 'preparing')
    expect(await sourceOf(3)).toBe(ran)
    await sql('delete from crux.deployment where id = $1', [ran])
    expect(await sourceOf(3)).toBe(prepared)
    await sql('delete from crux.deployment where id = $1', [prepared])
    const running = await deploy(2, 'RUNNING', 'in-progress')
    expect(await sourceOf(3)).toBe(third)
    await sql('delete from crux.deployment where id = $1', [third])
    expect(await sourceOf(3)).toBe(running)
    // A version that is deleted in the middle does not hide the earlier ones.
    await sql('delete from crux.version where id = $1', [system.versions[2]])
    expect(await sourceOf(3)).toBe(second)
  })

  it('starts the prepared deployment of the version as it is, with the new note', async () => {
    const system = await makeSystem()
    const { node, prefix, params, agent } = system.dev
    const prepared = await ours.client.call('deployments.create', {
      params: ours.params,
      body: { versionId: system.versions[1] ?? '', nodeId: node.id, prefix, protected: false, note: 'before' },
    })
    await patch((await ours.get(prepared.id)).config.id, { environment: [{ key: 'MINE', value: 'kept' }] })
    expect(await preview(params, system.versions[1])).toMatchObject({ deploymentId: prepared.id, unmatched: [] })
    const promoted = await promote(params, system.versions[1], { note: 'after' })
    expect(promoted).toMatchObject({ deploymentId: prepared.id, releaseNumber: 1, note: 'after' })
    const details = await ours.get(prepared.id)
    expect(details).toMatchObject({ note: 'after', status: 'in-progress' })
    expect(details.config.environment).toMatchObject([{ key: 'MINE' }])
    // While it is in progress, and once it runs.
    await expect(promote(params, system.versions[1])).rejects.toMatchObject({ status: 409, property: 'id' })
    await deployWell(agent, 1)
    await ours.waitForStatus(prepared.id, 'successful')
    await expect(promote(params, system.versions[1])).rejects.toMatchObject({
      status: 412,
      property: 'status',
      description: expect.stringContaining('runs here already'),
    })
    expect(await history(params)).toHaveLength(1)
  })

  it('brings an earlier version back, whose deployment is obsolete, as its next release', async () => {
    const system = await makeSystem()
    const first = await runAt(system, 'dev', 0, 1)
    await runAt(system, 'dev', 1, 2)
    expect(await preview(system.dev.params, system.versions[0])).toMatchObject({ deploymentId: first })
    const promoted = await promote(system.dev.params, system.versions[0])
    expect(promoted).toMatchObject({ deploymentId: first, releaseNumber: 2 })
    await deployWell(system.dev.agent, 3)
    await ours.waitForStatus(first, 'successful')
    const { projects } = await kit.call('packages.board', { params: kit.at(system.packageId) })
    expect(projects[0]?.cells[0]?.running).toMatchObject({ version: { name: '1' }, releaseNumber: 2 })
  })

  it('leaves nothing when the start is refused', async () => {
    const system = await makeSystem(undefined, false)
    // No agent is connected.
    const refused = promote(system.dev.params, system.versions[0])
    await expect(refused).rejects.toMatchObject({ status: 412, property: 'nodeId' })
    expect(await history(system.dev.params)).toEqual([])
    expect(
      await sql('select count(*)::int as n from crux.deployment where project_id = $1', [system.projectId]),
    ).toEqual([{ n: 0 }])
  })

  it('needs images, and container names that fit the prefix, also those of the copied configuration', async () => {
    const empty = await makeSystem(await kit.chain(['1'], []), false)
    for (const request of [promote, preview])
      await expect(request(empty.dev.params, empty.versions[0])).rejects.toMatchObject({
        status: 412,
        property: 'versionId',
      })
    const system = await makeSystem(undefined, false)
    const { node, params } = system.dev
    const prefix = 'p'.repeat(62)
    await kit.call('packages.update-environment', { params, body: { name: 'long', nodeId: node.id, prefix } })
    await expect(promote(params, system.versions[0])).rejects.toMatchObject({ status: 400, property: 'prefix' })
  })

  it.each([
    ['user', 403],
    ['admin', 201],
  ] as const)('of a host-dangerous configuration is judged by the role %s', async (role, status) => {
    const dangerous: ContainerConfigFields = { volumes: [{ name: '/srv/data', path: '/data', type: 'ro' }] }
    const system = await makeSystem(await kit.chain(['1'], [{ name: 'web', config: dangerous }]))
    const member = await crux.addMember(ours.team, role)
    const { preview: shown } = await preview(system.dev.params, system.versions[0], crux.client(member))
    expect(shown.hostDangerous).toMatchObject([{ containerName: 'web', confirmed: false }])
    const answer = await promote(system.dev.params, system.versions[0], {}, crux.client(member)).then(
      () => 201,
      (error: { status: number }) => error.status,
    )
    expect(answer).toBe(status)
    const [entry] = await sql<{ accepted: boolean; data: object }>(
      `select accepted, data from crux.audit_log where event = 'promotion packages.promote' and actor_id = $1`,
      [member.id],
    )
    expect(entry?.accepted).toBe(status === 201)
    if (status === 201) expect(JSON.stringify(entry?.data)).toContain('/srv/data')
    expect(await history(system.dev.params)).toHaveLength(status === 201 ? 1 : 0)
  })

  it('is possible with a token of the scope deploy, also at the other server, and not with read', async () => {
    const system = await makeSystem()
    const token = async (scope: 'read' | 'deploy') =>
      (await crux.client(user).call('tokens.create', { body: { name: named(scope), expirationInDays: 1, scope } }))
        .token
    const withToken = async (scope: 'read' | 'deploy', method: 'GET' | 'POST') => {
      const { teamSlug, packageId, environmentId } = system.dev.params
      const path = `/api/${teamSlug}/packages/${packageId}/environments/${environmentId}/promotions`
      const versionId = system.versions[0]
      const answer = await other.request(method === 'GET' ? `${path}/preview?versionId=${versionId}` : path, {
        method,
        headers: { authorization: `Bearer ${await token(scope)}`, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: JSON.stringify({ versionId }) }),
      })
      return answer.status
    }
    expect(await withToken('read', 'GET')).toBe(200)
    expect(await withToken('read', 'POST')).toBe(403)
    expect(await withToken('deploy', 'POST')).toBe(201)
    const [release] = await sql<{ trigger: string }>('select trigger from crux.release where project_id = $1', [
      system.projectId,
    ])
    expect(release).toEqual({ trigger: 'token' })
  })

  it('that is requested many times at once on two servers makes one deployment, one release and one entry', async () => {
    for (const prepared of [false, true]) {
      const system = await makeSystem()
      const { params } = system.dev
      if (prepared)
        await kit.call('packages.create-deployment', { params, body: { versionId: system.versions[0] ?? '' } })
      const outcomes = await Promise.allSettled(
        [crux, other, crux, other, crux, other].map((server) =>
          promote(params, system.versions[0], {}, server.client(user)),
        ),
      )
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ status: 409, property: 'id' })
      expect(
        await sql(
          `select (select count(*) from crux.deployment where project_id = $1)
            + (select count(*) from crux.release where project_id = $1)
            + (select count(*) from crux.package_promotion where project_id = $1) as n`,
          [system.projectId],
        ),
      ).toEqual([{ n: '3' }])
    }
  })

  it('of two versions at once makes one release after the other', async () => {
    const system = await makeSystem()
    const { params, agent } = system.dev
    const [first, second] = await Promise.all([
      promote(params, system.versions[0], {}, crux.client(user)),
      promote(params, system.versions[1], {}, other.client(user)),
    ])
    await deployWell(agent, 1)
    await deployWell(agent, 2)
    for (const { deploymentId } of [first, second])
      await expect(
        Promise.any(['successful', 'obsolete'].map((status) => ours.waitForStatus(deploymentId ?? '', status))),
      ).resolves.toBeTruthy()
    expect(await history(params)).toMatchObject([{ status: 'successful' }, { status: 'successful' }])
  })
})

describe('the preview of a promotion', () => {
  it('shows the source and the unmatched images, and stores and announces nothing', async () => {
    const chain = await kit.chain(['1', '2'], (index) =>
      index === 0 ? [{ name: 'web' }] : [{ name: 'web' }, { name: 'db' }],
    )
    const system = await makeSystem(chain)
    const source = await runAt(system, 'dev', 0, 1)
    await patch((await ours.get(source)).config.id, { environment: [{ key: 'A', value: '1' }] }).catch(() => undefined)
    const heard: string[] = []
    const unsubscribe = crux.app.bus.on('deployment.changed', ({ deploymentId }) => heard.push(deploymentId))
    const rows = () =>
      sql(
        `select (select count(*) from crux.deployment) + (select count(*) from crux.instance)
          + (select count(*) from crux.container_config) + (select count(*) from crux.release)
          + (select count(*) from crux.package_promotion) + (select count(*) from crux.deployment_event)
          + (select count(*) from crux.deployment_count) as n`,
      )
    const before = await rows()
    const sent = system.dev.agent.received.length
    const shown = await preview(system.dev.params, chain.versions[1])
    expect(shown).toMatchObject({
      source: { deploymentId: source, version: { id: chain.versions[0], name: '1', type: 'incremental' } },
      unmatched: [{ name: 'db' }],
      preview: {
        problems: [],
        removed: [],
        instances: [
          { containerName: 'web', action: 'keep' },
          { containerName: 'db', action: 'create' },
        ],
      },
    })
    expect(shown.deploymentId ?? null).toBeNull()
    expect(await rows()).toEqual(before)
    expect(heard).toEqual([])
    expect(system.dev.agent.received.length).toBe(sent)
    const open = await sql(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
    )
    expect(open).toEqual([{ n: 0 }])
    unsubscribe()
  })

  it('has the hash that the promotion compares: it starts exactly what was shown, or nothing', async () => {
    const system = await makeSystem()
    const { params } = system.dev
    const source = (
      await kit.call('packages.create-deployment', { params, body: { versionId: system.versions[0] ?? '' } })
    ).id
    const { config, instances } = await ours.get(source)
    const hash = async () => (await preview(params, system.versions[1])).preview.hash
    const seen = await hash()
    expect(await hash()).toBe(seen)
    const stale = { status: 412, property: 'expectedHash' }
    await patch(config.id, { environment: [{ key: 'CHANGED', value: 'by somebody' }] })
    await expect(promote(params, system.versions[1], { expectedHash: seen })).rejects.toMatchObject(stale)
    await patch(config.id, { environment: null })
    await patch(instances[0]?.config.id, { tty: true })
    await expect(promote(params, system.versions[1], { expectedHash: seen })).rejects.toMatchObject(stale)
    expect(await history(params)).toEqual([])
    await expect(promote(params, system.versions[1], { expectedHash: await hash() })).resolves.toMatchObject({
      status: 'in-progress',
    })
  })

  it('lists the problems of the start', async () => {
    const system = await makeSystem(undefined, false)
    const { preview: shown } = await preview(system.dev.params, system.versions[0])
    expect(shown.problems).toMatchObject([{ property: 'nodeId' }])
  })
})

describe('the creation of a deployment in an environment', () => {
  it('makes a preparing one with the copied configuration, and names the existing one afterwards', async () => {
    const system = await makeSystem()
    const { params, prefix } = system.dev
    const source = await runAt(system, 'dev', 0, 1)
    const { data, headers } = await crux.client(user).request('packages.create-deployment', {
      params,
      body: { versionId: system.versions[1] ?? '', note: 'soon' },
    })
    expect(data).toMatchObject({ prefix, protected: false, status: 'preparing', audit: { createdBy: user.id } })
    expect(headers.get('location')).toBe(`/${ours.team.slug}/deployments/${data.id}`)
    expect(await ours.get(data.id)).toMatchObject({ note: 'soon', lastTry: 0, version: { name: '2' } })
    const create = (versionId = '') => kit.call('packages.create-deployment', { params, body: { versionId } })
    const taken = (value: string) => ({ status: 409, error: 'alreadyExists', property: 'deploymentId', value })
    await expect(create(system.versions[1])).rejects.toMatchObject(taken(data.id))
    // Whatever its status is.
    await expect(create(system.versions[0])).rejects.toMatchObject(taken(source))
  })

  it('happens once when it is requested on two servers at once', async () => {
    const system = await makeSystem()
    const outcomes = await Promise.allSettled(
      [crux, other, crux, other].map((server) =>
        server.client(user).call('packages.create-deployment', {
          params: system.dev.params,
          body: { versionId: system.versions[0] ?? '' },
        }),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ status: 409, property: 'deploymentId' })
  })
})

describe('what an environment refuses', () => {
  it('versions outside of the chains of the package, of rolling type, and of other teams, alike', async () => {
    const system = await makeSystem()
    const outside = await kit.chain(['1'])
    const rolling = await ours.version({ type: 'rolling', projectId: system.projectId, name: 'edge' })
    const foreign = await theirs.version({ type: 'incremental' })
    const nothing = '01a1fe69-35bc-702a-a798-000000000000'
    const { params } = system.dev
    for (const versionId of [outside.chainId, rolling.versionId, foreign.versionId, nothing]) {
      const refused = {
        status: 403,
        property: 'versionId',
        description: expect.stringContaining('in no version chain'),
      }
      await expect(promote(params, versionId)).rejects.toMatchObject(refused)
      await expect(preview(params, versionId)).rejects.toMatchObject(refused)
      await expect(kit.call('packages.create-deployment', { params, body: { versionId } })).rejects.toMatchObject(
        refused,
      )
    }
  })

  it('packages, environments and origins of other packages and teams', async () => {
    const [system, sibling] = [await makeSystem(), await makeSystem()]
    const mixed = { ...system.dev.params, packageId: sibling.packageId }
    const notFound = { status: 404, property: 'environmentId' }
    await expect(promote(mixed, system.versions[0])).rejects.toMatchObject(notFound)
    await expect(preview(mixed, system.versions[0])).rejects.toMatchObject(notFound)
    await expect(history(mixed)).rejects.toMatchObject(notFound)
    const asTheirs = { ...system.dev.params, ...theirs.params }
    await expect(promote(asTheirs, system.versions[0], {}, theirs.client)).rejects.toMatchObject(notFound)
    await expect(preview(asTheirs, system.versions[0], theirs.client)).rejects.toMatchObject(notFound)
    const fromEnvironmentId = sibling.dev.params.environmentId
    await expect(promote(system.dev.params, system.versions[0], { fromEnvironmentId })).rejects.toMatchObject({
      status: 404,
      property: 'fromEnvironmentId',
    })
    expect(await history(system.dev.params)).toEqual([])
  })
})

describe('the history of an environment', () => {
  const event = (promotion: { deploymentId?: string | null | undefined; releaseNumber: number }, more: object) => ({
    type: 'deployment-status' as const,
    key: named('event'),
    teamId: ours.team.id,
    at: new Date().toISOString(),
    deploymentId: promotion.deploymentId ?? '',
    releaseNumber: promotion.releaseNumber,
    successful: true,
    projectName: 'p',
    versionName: 'v',
    nodeId: ours.team.id,
    nodeName: 'n',
    prefix: 'p',
    by: 'Uma',
    ...more,
  })
  const tell = async (told: ReturnType<typeof event>) => {
    await recordTeamEvent(crux.app, crux.app.database.pool, told)
  }
  const stored = async (id: string, status: string) =>
    expect
      .poll(
        async () => (await sql<{ status: string }>('select status from crux.package_promotion where id = $1', [id]))[0],
        {
          timeout: 15_000,
        },
      )
      .toEqual({ status })
  const deleteDeployment = (id: string | null | undefined) => sql('delete from crux.deployment where id = $1', [id])

  it('lists the newest first, by pages, with the reason of a failure', async () => {
    const system = await makeSystem()
    const { params, agent } = system.dev
    const failed = await promote(params, system.versions[0])
    const { value } = await agent.command('deploy', 1)
    const { key } = value as Release
    await agent.client.reportDeployment({ release: key, events: journal(badNews('no such image')) })
    await ours.waitForStatus(failed.deploymentId ?? '', 'failed')
    const next = await promote(params, system.versions[0], { note: 'again' })
    expect(next).toMatchObject({ deploymentId: failed.deploymentId, releaseNumber: 2 })
    const page = (skip: number) => kit.call('packages.promotions', { params, query: { skip, take: 1 } })
    expect(await page(0)).toMatchObject({ total: 2, items: [{ id: next.id, status: 'in-progress', note: 'again' }] })
    expect(await page(1)).toMatchObject({
      total: 2,
      items: [{ id: failed.id, status: 'failed', reason: 'no such image', finishedAt: expect.any(String) }],
    })
    expect(await page(2)).toEqual({ total: 2, items: [] })
  })

  it('keeps the end of a release whose deployment was deleted, and is unknown where it was deleted before', async () => {
    const system = await makeSystem()
    const known = await promote(system.dev.params, system.versions[0])
    const unknown = await promote(system.prod.params, system.versions[0])
    await tell(event(known, { successful: false, reason: 'no such image' }))
    await stored(known.id, 'failed')
    await deleteDeployment(known.deploymentId)
    await deleteDeployment(unknown.deploymentId)
    const [entry] = await history(system.dev.params)
    expect(entry).toMatchObject({ status: 'failed', reason: 'no such image', version: { name: '1' } })
    expect(entry?.deploymentId ?? null).toBeNull()
    const [lost] = await history(system.prod.params)
    expect(lost).toMatchObject({ status: 'unknown', version: { id: system.versions[0] } })
    expect(lost?.deploymentId ?? null).toBeNull()
  })

  it('is written once however often the end is told, keeps the corrected end, and ignores other events', async () => {
    const system = await makeSystem()
    const promoted = await promote(system.dev.params, system.versions[0])
    const [early, late] = [new Date(1_000_000).toISOString(), new Date(2_000_000).toISOString()]
    await tell(event(promoted, { successful: true, at: late }))
    await stored(promoted.id, 'successful')
    // Told again by another server, and late.
    await tell(event(promoted, { successful: false, reason: 'lease', at: early }))
    await tell(event({ ...promoted, releaseNumber: 2 }, { successful: false, at: late }))
    const marker = await promote(system.prod.params, system.versions[0])
    await tell(event(marker, { successful: false, at: late }))
    await stored(marker.id, 'failed')
    await stored(promoted.id, 'successful')
  })

  it('keeps the names of deleted versions, projects and environments', async () => {
    const system = await makeSystem()
    const promoted = await promote(system.prod.params, system.versions[0], {
      fromEnvironmentId: system.dev.params.environmentId,
    })
    await kit.call('packages.delete-environment', { params: system.dev.params })
    await sql('delete from crux.project where id = $1', [system.projectId])
    const [entry] = await history(system.prod.params)
    expect(entry).toMatchObject({
      id: promoted.id,
      version: { name: '1' },
      project: { name: promoted.project.name },
      from: { name: 'dev' },
      status: 'unknown',
    })
    expect([entry?.version.id ?? null, entry?.project.id ?? null, entry?.from?.id ?? null]).toEqual([null, null, null])
  })
})
