import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import { makePackageKit, type PackageKit } from '../../test/package-kit.ts'

let crux: TestServer
let ours: DeployTestEnvironment
let kit: PackageKit
let call: PackageKit['call']
beforeAll(async () => {
  crux = await startTestServer()
  ours = await makeDeployTestEnvironment(crux)
  kit = makePackageKit(ours, crux.client(await crux.addMember(ours.team, 'user')))
  call = kit.call
})
afterAll(() => crux.stop())

const query = (text: string, values: unknown[]) => crux.app.database.pool.query(text, values)
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
