import { limits } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { frozenNow } from '../../test/freeze-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import { makePackageKit, named, type PackageKit } from '../../test/package-kit.ts'

let crux: TestServer
let ours: DeployTestEnvironment
let theirs: DeployTestEnvironment
let kit: PackageKit
let call: PackageKit['call']
beforeAll(async () => {
  crux = await startTestServer()
  ours = await makeDeployTestEnvironment(crux)
  theirs = await makeDeployTestEnvironment(crux)
  kit = makePackageKit(ours, crux.client(await crux.addMember(ours.team, 'user')))
  call = kit.call
})
afterAll(() => crux.stop())

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

describe('an environment with freeze windows', () => {
  it('is moved or deleted, also with its package, by admins only, while others may rename it', async () => {
    const [node, elsewhere] = [await ours.node(), await ours.node()]
    const made = await kit.package()
    const environment = await kit.environment(made.id, node.id, 'prod', 'prod')
    const params = { ...kit.at(made.id), environmentId: environment.id }
    await ours.client.call('packages.create-freeze-window', { params, body: frozenNow() })
    const refused = { status: 403, property: 'freezeWindows' }
    const update = (change: object, as = call) =>
      as('packages.update-environment', { params, body: { name: 'prod', nodeId: node.id, prefix: 'prod', ...change } })
    await expect(update({ nodeId: elsewhere.id })).rejects.toMatchObject(refused)
    await expect(update({ prefix: 'other' })).rejects.toMatchObject(refused)
    await expect(call('packages.delete-environment', { params })).rejects.toMatchObject(refused)
    await expect(call('packages.delete', { params: kit.at(made.id) })).rejects.toMatchObject(refused)
    await update({ name: 'production' })
    await call('packages.update', { params: kit.at(made.id), body: { name: named('Renamed'), chainIds: [] } })
    const details = await call('packages.get-environment', { params })
    expect(details).toMatchObject({ name: 'production', prefix: 'prod', node: { id: node.id } })
    expect(details.freezeWindows).toMatchObject([{ kind: 'once', reason: 'Release week' }])
    expect((await call('packages.get', { params: kit.at(made.id) })).environments).toMatchObject([
      { name: 'production', hasFreezeWindows: true },
    ])
    expect(details.freeze).toMatchObject({ reason: 'Release week' })
    const board = await call('packages.board', { params: kit.at(made.id) })
    expect(board.environments).toMatchObject([{ name: 'production', freeze: { reason: 'Release week' } }])
    await update({ prefix: 'other' }, ours.client.call)
    await ours.client.call('packages.delete', { params: kit.at(made.id) })
  })

  it('is not moved by a user when its first window is created at the same time', async () => {
    for (let round = 0; round < 8; round++) {
      const node = await ours.node()
      const made = await kit.package()
      const environment = await kit.environment(made.id, node.id, 'prod')
      const params = { ...kit.at(made.id), environmentId: environment.id }
      const [moved] = await Promise.allSettled([
        call('packages.update-environment', { params, body: { name: 'prod', nodeId: node.id, prefix: 'moved' } }),
        ours.client.call('packages.create-freeze-window', { params, body: frozenNow() }),
      ])
      const details = await call('packages.get-environment', { params })
      // Either it moved before there was a window, or not at all.
      expect(details.prefix).toBe(moved.status === 'fulfilled' ? 'moved' : environment.prefix)
      expect(details.freezeWindows).toHaveLength(1)
    }
  })
})
