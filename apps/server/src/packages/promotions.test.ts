import type { Client } from '@crux/client'
import type { ContainerConfigFields } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deployWell } from '../../test/deploy-kit.ts'
import { frozenNow } from '../../test/freeze-kit.ts'
import { keyOne, sealFor } from '../../test/node-keys.ts'
import { makePackageSystem, named, type PackageServers, startPackageServers } from '../../test/package-kit.ts'

let crux: PackageServers['crux']
let other: PackageServers['other']
let ours: PackageServers['ours']
let user: PackageServers['user']
let kit: PackageServers['kit']
let stop: PackageServers['stop']
beforeAll(async () => {
  ;({ crux, other, ours, user, kit, stop } = await startPackageServers())
})
afterAll(() => stop())

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
    const system = await makePackageSystem(ours, kit, { chain })
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

    await system.dev.run(1, 1)
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
    const system = await makePackageSystem(ours, kit, { chain: await kit.chain(['1', '2', '3', '4']), agents: false })
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
    const getSource = async (version: number) => (await preview(params, system.versions[version])).source?.deploymentId
    expect(await getSource(3)).toBeUndefined()
    // A later version is no source, and neither is a deployment elsewhere.
    const later = await deploy(3, 'LATER', 'successful')
    expect(await getSource(2)).toBeUndefined()
    await sql('delete from crux.deployment where id = $1', [later])
    const [third, second] = [await deploy(2, 'THIRD', 'failed'), await deploy(1, 'SECOND', 'successful')]
    expect(await getSource(3)).toBe(third)
    // Of one version, one that ran comes before one that was only prepared or has failed.
    const ran = await deploy(2, 'RAN', 'obsolete')
    const prepared = await deploy(2, 'PREPARED', 'preparing')
    expect(await getSource(3)).toBe(ran)
    await sql('delete from crux.deployment where id = $1', [ran])
    expect(await getSource(3)).toBe(prepared)
    await sql('delete from crux.deployment where id = $1', [prepared])
    const running = await deploy(2, 'RUNNING', 'in-progress')
    expect(await getSource(3)).toBe(third)
    await sql('delete from crux.deployment where id = $1', [third])
    expect(await getSource(3)).toBe(running)
    // A version that is deleted in the middle does not hide the earlier ones.
    await sql('delete from crux.version where id = $1', [system.versions[2]])
    expect(await getSource(3)).toBe(second)
  })

  it('starts the prepared deployment of the version as it is, with the new note', async () => {
    const system = await makePackageSystem(ours, kit)
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
    const system = await makePackageSystem(ours, kit)
    const first = await system.dev.run(0, 1)
    await system.dev.run(1, 2)
    expect(await preview(system.dev.params, system.versions[0])).toMatchObject({ deploymentId: first })
    const promoted = await promote(system.dev.params, system.versions[0])
    expect(promoted).toMatchObject({ deploymentId: first, releaseNumber: 2 })
    await deployWell(system.dev.agent, 3)
    await ours.waitForStatus(first, 'successful')
    const { projects } = await kit.call('packages.board', { params: kit.at(system.packageId) })
    expect(projects[0]?.cells[0]?.running).toMatchObject({ version: { name: '1' }, releaseNumber: 2 })
  })

  it('leaves nothing when the start is refused', async () => {
    const system = await makePackageSystem(ours, kit, { agents: false })
    // No agent is connected.
    const refused = promote(system.dev.params, system.versions[0])
    await expect(refused).rejects.toMatchObject({ status: 412, property: 'nodeId' })
    expect(await history(system.dev.params)).toEqual([])
    expect(
      await sql('select count(*)::int as n from crux.deployment where project_id = $1', [system.projectId]),
    ).toEqual([{ n: 0 }])
  })

  it('needs images, and container names that fit the prefix, also those of the copied configuration', async () => {
    const empty = await makePackageSystem(ours, kit, { chain: await kit.chain(['1'], []), agents: false })
    for (const request of [promote, preview])
      await expect(request(empty.dev.params, empty.versions[0])).rejects.toMatchObject({
        status: 412,
        property: 'versionId',
      })
    const system = await makePackageSystem(ours, kit, { agents: false })
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
    const system = await makePackageSystem(ours, kit, {
      chain: await kit.chain(['1'], [{ name: 'web', config: dangerous }]),
    })
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
    const system = await makePackageSystem(ours, kit)
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

  it('is refused during a freeze, except for an admin who says why, which the history keeps', async () => {
    const system = await makePackageSystem(ours, kit)
    const { params } = system.prod
    await ours.client.call('packages.create-freeze-window', { params, body: frozenNow('Holidays') })
    expect(await preview(params, system.versions[0])).toMatchObject({
      freeze: { reason: 'Holidays' },
      preview: { problems: [{ property: 'freezeWindow' }] },
    })
    const overrideFreeze = 'The shop is down'
    await expect(promote(params, system.versions[0])).rejects.toMatchObject({ status: 412, property: 'freezeWindow' })
    await expect(promote(params, system.versions[0], { overrideFreeze })).rejects.toMatchObject({ status: 403 })
    const forced = await promote(params, system.versions[0], { overrideFreeze }, ours.client)
    expect(forced).toMatchObject({ overrideFreeze, status: 'in-progress' })
    // Nothing is frozen in dev: there is nothing to override.
    const free = await promote(system.dev.params, system.versions[0], { overrideFreeze }, ours.client)
    expect(free.overrideFreeze ?? null).toBeNull()
    expect(await history(params)).toMatchObject([{ id: forced.id, overrideFreeze }])
    const [entry] = await sql<{ data: object }>(
      `select data from crux.audit_log where event = 'promotion packages.promote' and accepted
        and data -> 'params' ->> 'environmentId' = $1`,
      [params.environmentId],
    )
    expect(entry?.data).toMatchObject({
      body: { overrideFreeze },
      overrideFreeze,
      freeze: { reason: 'Holidays', until: expect.any(String) },
    })
    // A deployment may be prepared.
    await kit.call('packages.create-deployment', { params, body: { versionId: system.versions[1] ?? '' } })
  })

  it('comes from an environment in which the version runs, or is refused because it changed meanwhile', async () => {
    const system = await makePackageSystem(ours, kit)
    const fromEnvironmentId = system.dev.params.environmentId
    const notThere = { status: 412, property: 'fromEnvironmentId', description: expect.stringContaining('dev') }
    const inProd = () => promote(system.prod.params, system.versions[0], { fromEnvironmentId })
    await expect(inProd()).rejects.toMatchObject(notThere)
    await system.dev.run(0, 1)
    await system.dev.run(1, 2)
    await expect(inProd()).rejects.toMatchObject(notThere)
    expect(await history(system.prod.params)).toEqual([])
    await expect(promote(system.prod.params, system.versions[1], { fromEnvironmentId })).resolves.toMatchObject({
      from: { id: fromEnvironmentId, name: 'dev' },
    })
  })

  it('that is requested many times at once on two servers makes one deployment, one release and one entry', async () => {
    for (const prepared of [false, true]) {
      const system = await makePackageSystem(ours, kit)
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
    const system = await makePackageSystem(ours, kit)
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
