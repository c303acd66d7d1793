import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { frozenNow } from '../../test/freeze-kit.ts'
import { makePackageSystem, type PackageServers, startPackageServers } from '../../test/package-kit.ts'

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

type System = Awaited<ReturnType<typeof makePackageSystem>>
type Meets = (system: System, source: string) => Promise<unknown>
const admin = () => other.client(ours.owner)
const meeting: [string, Meets][] = [
  [
    'the deletion of its environment',
    ({ prod }) => admin().call('packages.delete-environment', { params: prod.params }),
  ],
  ['the deletion of its package', ({ packageId }) => admin().call('packages.delete', { params: kit.at(packageId) })],
  [
    'the move of its environment to another prefix',
    ({ prod }) =>
      admin().call('packages.update-environment', {
        params: prod.params,
        body: { name: 'prod', nodeId: prod.node.id, prefix: `${prod.prefix}-moved` },
      }),
  ],
  [
    'the first freeze window of its environment',
    ({ prod }) => admin().call('packages.create-freeze-window', { params: prod.params, body: frozenNow() }),
  ],
  [
    'the deletion of the deployment whose configuration it copies',
    (_, deploymentId) => admin().call('deployments.delete', { params: { ...ours.params, deploymentId }, query: {} }),
  ],
  [
    'the deletion of its version',
    ({ projectId, versions }) =>
      admin().call('versions.delete', {
        params: { ...ours.params, projectId, versionId: versions[2] ?? '' },
        query: {},
      }),
  ],
  [
    'the deletion of its project',
    ({ projectId }) => admin().call('projects.delete', { params: { ...ours.params, projectId }, query: {} }),
  ],
  [
    'the removal of its chain from the package',
    ({ packageId }) =>
      admin().call('packages.update', { params: kit.at(packageId), body: { name: `Bare ${packageId}`, chainIds: [] } }),
  ],
]

/** The status of the response. */
const getStatus = (request: Promise<unknown>): Promise<number> =>
  request.then(
    () => 200,
    (error: { status?: number }) => error.status ?? 0,
  )

describe('a promotion at the same time as', () => {
  it.each(meeting)('%s happens as a whole or is refused, and nothing fails', async (_, meets) => {
    for (let round = 0; round < 5; round++) {
      const system = await makePackageSystem(ours, kit)
      const { params, node, prefix } = system.prod
      const source = await ours.client.call('deployments.create', {
        params: ours.params,
        body: { versionId: system.versions[0] ?? '', nodeId: node.id, prefix, protected: false },
      })
      const body = { versionId: system.versions[2] ?? '' }
      const [promoted, met] = await Promise.all([
        getStatus(crux.client(user).call('packages.promote', { params, body })),
        getStatus(meets(system, source.id)),
      ])
      expect([200, 403, 404, 412]).toContain(promoted)
      expect([200, 412]).toContain(met)
      const { rows } = await crux.app.database.pool.query(
        `select (select count(*)::int from crux.deployment where version_id = $1) as deployments,
           (select count(*)::int from crux.release r join crux.deployment d on d.id = r.deployment_id
             where d.version_id = $1) as releases`,
        [body.versionId],
      )
      // Deleting the version or its project deletes both with it.
      if (rows[0].deployments > 0 || promoted !== 200) {
        const count = promoted === 200 ? 1 : 0
        expect(rows[0]).toEqual({ deployments: count, releases: count })
      }
    }
  })
})
