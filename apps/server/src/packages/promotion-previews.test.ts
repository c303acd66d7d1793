import type { Client } from '@crux/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { makePackageSystem, type PackageServers, startPackageServers } from '../../test/package-kit.ts'

let crux: PackageServers['crux']
let other: PackageServers['other']
let ours: PackageServers['ours']
let theirs: PackageServers['ours']
let user: PackageServers['user']
let kit: PackageServers['kit']
let stop: PackageServers['stop']
beforeAll(async () => {
  ;({ crux, other, ours, user, kit, stop } = await startPackageServers())
  theirs = await makeDeployTestEnvironment(crux)
})
afterAll(() => stop())

const sql = <R extends object = { n: number }>(text: string, values: unknown[] = []) =>
  crux.app.database.pool.query<R>(text, values).then(({ rows }) => rows)
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

describe('the preview of a promotion', () => {
  it('shows the source and the unmatched images, and stores and announces nothing', async () => {
    const chain = await kit.chain(['1', '2'], (index) =>
      index === 0 ? [{ name: 'web' }] : [{ name: 'web' }, { name: 'db' }],
    )
    const system = await makePackageSystem(ours, kit, { chain })
    const source = await system.dev.run(0, 1)
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
    const system = await makePackageSystem(ours, kit)
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
    const system = await makePackageSystem(ours, kit, { agents: false })
    const { preview: shown } = await preview(system.dev.params, system.versions[0])
    expect(shown.problems).toMatchObject([{ property: 'nodeId' }])
  })
})

describe('the creation of a deployment in an environment', () => {
  it('makes a preparing one with the copied configuration, and names the existing one afterwards', async () => {
    const system = await makePackageSystem(ours, kit)
    const { params, prefix } = system.dev
    const source = await system.dev.run(0, 1)
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
    const system = await makePackageSystem(ours, kit)
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
    const system = await makePackageSystem(ours, kit)
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
    const [system, sibling] = [await makePackageSystem(ours, kit), await makePackageSystem(ours, kit)]
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
