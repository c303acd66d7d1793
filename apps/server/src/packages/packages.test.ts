import { limits } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
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

describe('environments', () => {
  it('are created at the end, reordered, changed and deleted', async () => {
    const [node, other] = [await ours.node(), await ours.node()]
    const made = await kit.package()
    const ids: string[] = []
    for (const name of ['dev', 'test', 'prod']) ids.push((await kit.environment(made.id, node.id, name)).id)
    const [dev = '', test = '', prod = ''] = ids
    const names = async () =>
      (await call('packages.get', { params: kit.at(made.id) })).environments.map(({ name }) => name)
    expect(await names()).toEqual(['dev', 'test', 'prod'])
    const order = (body: string[]) => call('packages.order-environments', { params: kit.at(made.id), body })
    await order([prod, dev, test])
    expect(await names()).toEqual(['prod', 'dev', 'test'])
    for (const body of [
      [dev, test],
      [dev, test, prod, prod],
      [dev, dev, test],
    ])
      await expect(order(body)).rejects.toMatchObject({ status: 400, property: 'body' })
    const params = { ...kit.at(made.id), environmentId: test }
    await call('packages.update-environment', { params, body: { name: 'stage', nodeId: other.id, prefix: 'moved' } })
    expect(await call('packages.get-environment', { params })).toMatchObject({
      name: 'stage',
      prefix: 'moved',
      node: { id: other.id },
      package: { id: made.id, name: made.name },
      versionChains: [],
      freezeWindows: [],
    })
    await call('packages.delete-environment', { params })
    expect(await names()).toEqual(['prod', 'dev'])
    await expect(call('packages.get-environment', { params })).rejects.toMatchObject({ status: 404 })
  })

  it('have unique names in a package, DNS labels as prefixes, and a limit', async () => {
    const node = await ours.node()
    const made = await kit.package()
    await kit.environment(made.id, node.id, 'dev')
    await expect(kit.environment(made.id, node.id, 'dev')).rejects.toMatchObject({ status: 409, property: 'name' })
    for (const prefix of ['Upper', '-a', 'a_b', 'a'.repeat(64), 'a/b', ''])
      await expect(kit.environment(made.id, node.id, 'x', prefix)).rejects.toMatchObject({
        status: 400,
        property: 'prefix',
      })
    // Requests at once do not exceed the limit.
    const outcomes = await Promise.allSettled(
      Array.from({ length: limits.packageEnvironments + 4 }, (_, index) =>
        kit.environment(made.id, node.id, `env ${index}`),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(limits.packageEnvironments - 1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ status: 412, property: 'packageId' })
  })

  it('are on nodes of the team, and every id has to belong to the package and the team', async () => {
    const [node, foreignNode] = [await ours.node(), await theirs.node()]
    const [made, other] = [await kit.package(), await kit.package()]
    const environment = await kit.environment(made.id, node.id, 'dev')
    await expect(kit.environment(made.id, foreignNode.id)).rejects.toMatchObject({ status: 404, property: 'nodeId' })
    const body = { name: 'dev', nodeId: foreignNode.id, prefix: 'p' }
    const params = { ...kit.at(made.id), environmentId: environment.id }
    await expect(call('packages.update-environment', { params, body })).rejects.toMatchObject({
      status: 404,
      property: 'nodeId',
    })
    const wrong = { ...kit.at(other.id), environmentId: environment.id }
    const valid = { ...body, nodeId: node.id }
    const notFound = { status: 404, property: 'environmentId' }
    await expect(call('packages.get-environment', { params: wrong })).rejects.toMatchObject(notFound)
    await expect(call('packages.delete-environment', { params: wrong })).rejects.toMatchObject(notFound)
    await expect(call('packages.update-environment', { params: wrong, body: valid })).rejects.toMatchObject(notFound)
    await expect(
      call('packages.order-environments', { params: kit.at(other.id), body: [environment.id] }),
    ).rejects.toMatchObject(notFound)
    for (const packageId of [made.id]) {
      const asTheirs = { ...theirs.params, packageId }
      const denied = { status: 404, property: 'packageId' }
      await expect(theirs.client.call('packages.get', { params: asTheirs })).rejects.toMatchObject(denied)
      await expect(theirs.client.call('packages.board', { params: asTheirs })).rejects.toMatchObject(denied)
      await expect(theirs.client.call('packages.delete', { params: asTheirs })).rejects.toMatchObject(denied)
    }
    expect((await call('packages.get', { params: kit.at(made.id) })).environments).toMatchObject([{ name: 'dev' }])
  })

  it('keep their node from being deleted, which names them', async () => {
    const node = await ours.node()
    const made = await kit.package([], 'Held')
    const environment = await kit.environment(made.id, node.id, 'prod')
    const params = { ...ours.params, nodeId: node.id }
    expect(await ours.client.call('nodes.get', { params })).toMatchObject({ inUse: true })
    await expect(ours.client.call('nodes.delete', { params })).rejects.toMatchObject({
      status: 412,
      property: 'id',
      description: expect.stringContaining('prod of Held'),
    })
    await call('packages.delete-environment', { params: { ...kit.at(made.id), environmentId: environment.id } })
    expect(await ours.client.call('nodes.get', { params })).toMatchObject({ inUse: false })
    await ours.client.call('nodes.delete', { params })
  })

  it('are never left without their node by a deletion at the same time', async () => {
    const made = await kit.package()
    for (let round = 0; round < 10; round++) {
      const node = await ours.node()
      const [environment, deleted] = await Promise.allSettled([
        kit.environment(made.id, node.id, `round ${round}`),
        ours.client.call('nodes.delete', { params: { ...ours.params, nodeId: node.id } }),
      ])
      expect([environment.status, deleted.status].sort()).toEqual(['fulfilled', 'rejected'])
      if (environment.status === 'rejected')
        expect(environment.reason).toMatchObject({ status: 404, property: 'nodeId' })
      if (deleted.status === 'rejected') expect(deleted.reason).toMatchObject({ status: 412 })
    }
  })
})

describe('the board and the page of an environment', () => {
  it('show what runs, what is not finished, and where a newer version runs in the column before', async () => {
    const [devNode, prodNode] = [await ours.node(), await ours.node()]
    const [devAgent, prodAgent] = [await ours.agent(devNode), await ours.agent(prodNode)]
    const { chainId, projectId, versions } = await kit.chain(['1', '2', '3'])
    const other = await kit.chain(['9'])
    const made = await kit.package([chainId, other.chainId])
    const dev = await kit.environment(made.id, devNode.id, 'dev', 'dev')
    const prod = await kit.environment(made.id, prodNode.id, 'prod', 'prod')
    const deploy = async (version: number, prefix: string, nodeId: string) => {
      const seeded = { projectId, versionId: versions[version] ?? '', imageIds: [], imageConfigIds: [] }
      return (await ours.deployment(seeded, nodeId, prefix)).id
    }
    const succeed = async (id: string, agent: typeof devAgent, nth: number) => {
      await ours.start(id)
      await deployWell(agent, nth)
      await ours.waitForStatus(id, 'successful')
    }
    const cells = async () => {
      const { projects } = await call('packages.board', { params: kit.at(made.id) })
      return (projects[0]?.cells ?? []).map((cell) => [
        cell.running?.version.name ?? null,
        cell.latest?.version.name ?? null,
        cell.latest?.status ?? null,
        cell.newerBefore?.name ?? null,
      ])
    }
    expect(await cells()).toEqual([
      [null, null, null, null],
      [null, null, null, null],
    ])
    const first = await deploy(0, 'dev', devNode.id)
    expect(await cells()).toEqual([
      [null, '1', 'preparing', null],
      [null, null, null, null],
    ])
    await succeed(first, devAgent, 1)
    // Nothing of the chain runs in prod yet.
    expect(await cells()).toEqual([
      ['1', null, null, null],
      [null, null, null, '1'],
    ])
    const inProd = await deploy(0, 'prod', prodNode.id)
    await succeed(inProd, prodAgent, 1)
    const second = await deploy(1, 'dev', devNode.id)
    await succeed(second, devAgent, 2)
    expect(await cells()).toEqual([
      ['2', null, null, null],
      ['1', null, null, '2'],
    ])
    const third = await deploy(2, 'prod', prodNode.id)
    expect(await cells()).toEqual([
      ['2', null, null, null],
      ['1', '3', 'preparing', '2'],
    ])
    await succeed(third, prodAgent, 2)
    // An earlier version in dev than in prod is no reason to promote.
    expect(await cells()).toEqual([
      ['2', null, null, null],
      ['3', null, null, null],
    ])

    const board = await call('packages.board', { params: kit.at(made.id) })
    expect(board.environments).toMatchObject([
      { id: dev.id, name: 'dev', prefix: 'dev', node: { id: devNode.id, status: 'connected' } },
      { id: prod.id, name: 'prod', node: { id: prodNode.id } },
    ])
    expect(board.projects).toMatchObject([
      { chainId, project: { id: projectId }, latest: { name: '3' } },
      { chainId: other.chainId, cells: [{ environmentId: dev.id }, { environmentId: prod.id }] },
    ])
    expect(board.projects[0]?.cells[0]?.running).toMatchObject({
      version: { id: versions[1], name: '2' },
      deploymentId: second,
      releaseNumber: 1,
      deployedBy: ours.owner.name,
    })
    const details = await call('packages.get-environment', { params: { ...kit.at(made.id), environmentId: dev.id } })
    expect(details.versionChains).toMatchObject([
      {
        chainId,
        project: { id: projectId },
        versions: [
          { name: '1', type: 'incremental', deployment: { id: first, status: 'obsolete', prefix: 'dev' } },
          { name: '2', deployment: { id: second, status: 'successful', protected: false } },
          { name: '3' },
        ],
        running: { deploymentId: second, version: { name: '2' } },
      },
      { chainId: other.chainId, versions: [{ name: '9' }] },
    ])
    expect(details.versionChains[0]?.versions[2]?.deployment ?? null).toBeNull()
    expect(details.versionChains[1]?.running ?? null).toBeNull()
  })

  it('count deployments at the node and prefix of the environment only, and those of their chain only', async () => {
    const node = await ours.node()
    const { chainId, projectId, versions } = await kit.chain(['1'])
    const sibling = await ours.version({ type: 'incremental', name: 'sibling', projectId })
    const made = await kit.package([chainId])
    const environment = await kit.environment(made.id, node.id, 'dev', 'here')
    const seeded = { projectId, versionId: versions[0] ?? '', imageIds: [], imageConfigIds: [] }
    await ours.deployment(seeded, node.id, 'elsewhere')
    await ours.deployment(sibling, node.id, 'here')
    await ours.deployment(seeded, (await ours.node()).id, 'here')
    const board = await call('packages.board', { params: kit.at(made.id) })
    expect(board.projects).toMatchObject([{ chainId, cells: [{ environmentId: environment.id }] }])
    expect(board.projects[0]?.cells[0]?.running ?? null).toBeNull()
    expect(board.projects[0]?.cells[0]?.latest ?? null).toBeNull()
  })

  it('order the versions of a chain that lost a version in the middle by the creation of its parts', async () => {
    const { chainId, versions } = await kit.chain(['c', 'b', 'a', '0'])
    const made = await kit.package([chainId])
    const environment = await kit.environment(made.id, (await ours.node()).id)
    await query('delete from crux.version where id = $1', [versions[1]])
    const params = { ...kit.at(made.id), environmentId: environment.id }
    const details = await call('packages.get-environment', { params })
    expect(details.versionChains[0]?.versions.map(({ name }) => name)).toEqual(['c', 'a', '0'])
    expect((await call('packages.get', { params: kit.at(made.id) })).versionChains).toMatchObject([
      { earliest: { name: 'c' }, latest: { name: '0' } },
    ])
  })
})
