import { limits } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import { makePackageKit, named, type PackageKit } from '../../test/package-kit.ts'

let crux: TestServer
let ours: DeployTestEnvironment
let theirs: DeployTestEnvironment
let kit: PackageKit
let theirKit: PackageKit
let call: PackageKit['call']
beforeAll(async () => {
  crux = await startTestServer()
  ours = await makeDeployTestEnvironment(crux)
  theirs = await makeDeployTestEnvironment(crux)
  kit = makePackageKit(ours, crux.client(await crux.addMember(ours.team, 'user')))
  theirKit = makePackageKit(theirs, theirs.client)
  call = kit.call
})
afterAll(() => crux.stop())

const query = (text: string, values: unknown[]) => crux.app.database.pool.query(text, values)
describe('the version chains of a project', () => {
  it('name their first and last version in the order of parents, and leave out rolling versions', async () => {
    const { projectId, chainId, versions } = await kit.chain(['3', '2', '1'])
    const single = await ours.version({ type: 'incremental', name: 'other', projectId })
    await ours.version({ type: 'rolling', name: 'edge', projectId })
    expect(await call('projects.version-chains', { params: { ...ours.params, projectId } })).toEqual([
      {
        id: chainId,
        earliest: { id: versions[0], name: '3', type: 'incremental' },
        latest: { id: versions[2], name: '1', type: 'incremental' },
      },
      {
        id: single.versionId,
        earliest: { id: single.versionId, name: 'other', type: 'incremental' },
        latest: { id: single.versionId, name: 'other', type: 'incremental' },
      },
    ])
  })

  it('are those of projects of the team only', async () => {
    const { projectId } = await theirKit.chain(['1'])
    const refused = call('projects.version-chains', { params: { ...ours.params, projectId } })
    await expect(refused).rejects.toMatchObject({ status: 404, property: 'projectId' })
  })
})

describe('packages', () => {
  it('are created, listed by name, changed and deleted by members with the role user', async () => {
    const [one, two] = [await kit.chain(['1', '2']), await kit.chain(['a'])]
    const name = named('Whole')
    const created = await call('packages.create', {
      params: ours.params,
      body: { name, description: 'Everything', icon: 'shark', chainIds: [two.chainId, one.chainId] },
    })
    expect(created).toMatchObject({
      name,
      description: 'Everything',
      icon: 'shark',
      environments: [],
      emptyChains: [],
    })
    expect(created.versionChains).toEqual([
      expect.objectContaining({ id: two.chainId, project: expect.objectContaining({ id: two.projectId }) }),
      {
        id: one.chainId,
        earliest: { id: one.versions[0], name: '1', type: 'incremental' },
        latest: { id: one.versions[1], name: '2', type: 'incremental' },
        project: expect.objectContaining({ id: one.projectId, type: 'versioned' }),
      },
    ])
    const node = await ours.node()
    await kit.environment(created.id, node.id, 'dev')
    await kit.environment(created.id, node.id, 'prod')
    const listed = async () =>
      (await call('packages.list', { params: ours.params })).find(({ id }) => id === created.id)
    expect(await listed()).toMatchObject({
      name,
      environments: ['dev', 'prod'],
      versionChains: [{ id: two.chainId }, { id: one.chainId, latest: { name: '2' } }],
    })
    await call('packages.update', { params: kit.at(created.id), body: { name: `${name} 2`, chainIds: [one.chainId] } })
    const changed = await call('packages.get', { params: kit.at(created.id) })
    expect(changed).toMatchObject({ name: `${name} 2`, description: null, icon: null })
    expect(changed.versionChains.map(({ id }) => id)).toEqual([one.chainId])
    expect(changed.environments.map((one) => [one.name, one.node.id])).toEqual([
      ['dev', node.id],
      ['prod', node.id],
    ])
    await call('packages.delete', { params: kit.at(created.id) })
    expect(await listed()).toBeUndefined()
    await expect(call('packages.get', { params: kit.at(created.id) })).rejects.toMatchObject({ status: 404 })
  })

  it('have names that are unique in the team, also when two are created at once', async () => {
    const name = named('Twice')
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => kit.package([], name)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ status: 409, property: 'name' })
    const other = await kit.package()
    const renamed = call('packages.update', { params: kit.at(other.id), body: { name, chainIds: [] } })
    await expect(renamed).rejects.toMatchObject({ status: 409, property: 'name' })
    await theirs.client.call('packages.create', { params: theirs.params, body: { name, chainIds: [] } })
  })

  it('refuse chains of another team, ids of other things and chains that are named twice, and store nothing', async () => {
    const [mine, foreign] = [await kit.chain(['1', '2']), await theirKit.chain(['1'])]
    const rolling = await ours.version({ type: 'rolling' })
    const made = await kit.package([mine.chainId])
    for (const bad of [foreign.chainId, mine.versions[1] ?? '', rolling.versionId, mine.projectId, made.id]) {
      const refused = { status: 403, property: 'chainIds', value: bad }
      await expect(kit.package([mine.chainId, bad])).rejects.toMatchObject(refused)
      const update = call('packages.update', { params: kit.at(made.id), body: { name: 'New name', chainIds: [bad] } })
      await expect(update).rejects.toMatchObject(refused)
    }
    await expect(kit.package([mine.chainId, mine.chainId])).rejects.toMatchObject({ status: 400, property: 'chainIds' })
    expect(await call('packages.get', { params: kit.at(made.id) })).toMatchObject({
      name: made.name,
      versionChains: [{ id: mine.chainId }],
    })
    const tooMany = kit.package(Array.from({ length: limits.packageChains + 1 }, () => mine.chainId))
    await expect(tooMany).rejects.toMatchObject({ status: 400, property: 'chainIds' })
  })

  it('keep the chain of a project whose versions were all deleted apart, until an update drops it', async () => {
    const [kept, lost] = [await kit.chain(['1']), await kit.chain(['1'])]
    const made = await kit.package([kept.chainId, lost.chainId])
    await query('delete from crux.version where project_id = $1', [lost.projectId])
    const empty = [{ id: lost.chainId, project: expect.objectContaining({ id: lost.projectId }) }]
    const isEmpty = { versionChains: [{ id: kept.chainId }], emptyChains: empty }
    const get = () => call('packages.get', { params: kit.at(made.id) })
    expect(await get()).toMatchObject(isEmpty)
    const listed = await call('packages.list', { params: ours.params })
    expect(listed.find(({ id }) => id === made.id)).toMatchObject(isEmpty)
    const board = await call('packages.board', { params: kit.at(made.id) })
    expect(board.projects.map((row) => [row.chainId, row.latest?.name ?? null])).toEqual([
      [kept.chainId, '1'],
      [lost.chainId, null],
    ])
    const chains = { params: { ...ours.params, projectId: lost.projectId } }
    expect(await call('projects.version-chains', chains)).toEqual([])
    const environment = await kit.environment(made.id, (await ours.node()).id, 'prod')
    const params = { ...kit.at(made.id), environmentId: environment.id }
    expect((await call('packages.get-environment', { params })).versionChains).toMatchObject([
      { chainId: kept.chainId, versions: [{ name: '1' }] },
      { chainId: lost.chainId, project: { id: lost.projectId }, versions: [] },
    ])
    await expect(call('packages.promote', { params, body: { versionId: lost.chainId } })).rejects.toMatchObject({
      status: 403,
      property: 'versionId',
    })
    const update = (chainIds: string[]) =>
      call('packages.update', { params: kit.at(made.id), body: { name: made.name, chainIds } })
    await update([lost.chainId, kept.chainId])
    expect(await get()).toMatchObject(isEmpty)
    await update([kept.chainId])
    expect((await get()).emptyChains).toEqual([])
    // Nothing says any more which project and which team it belonged to.
    await expect(update([lost.chainId])).rejects.toMatchObject({ status: 403, property: 'chainIds' })
  })

  it('know a chain by its id also after its first version was deleted', async () => {
    const { chainId, versions } = await kit.chain(['1', '2', '3'])
    await query('delete from crux.version where id = $1', [chainId])
    const made = await kit.package([chainId])
    expect(made.versionChains).toMatchObject([
      { id: chainId, earliest: { id: versions[1] }, latest: { id: versions[2] } },
    ])
  })

  it('lose the chains of a deleted project', async () => {
    const { projectId, chainId } = await kit.chain()
    const made = await kit.package([chainId])
    await ours.client.call('projects.delete', { params: { ...ours.params, projectId } })
    expect(await call('packages.get', { params: kit.at(made.id) })).toMatchObject({
      versionChains: [],
      emptyChains: [],
    })
  })
})
