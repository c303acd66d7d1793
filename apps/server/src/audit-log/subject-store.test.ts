import { afterAll, beforeAll, expect, it } from 'vitest'
import { getTestEnvironment } from '../../test/deploy-kit.ts'
import { type Someone, startTestServer, type TestServer } from '../../test/kit/index.ts'

let crux: TestServer
let ada: Someone

beforeAll(async () => {
  crux = await startTestServer()
  ada = crux.signUp('Ada Byron')
})
afterAll(() => crux.stop())

const always = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', skip: 0, take: 10 }

it('the subjects of an entry have their current names, without those of another team and deleted ones', async () => {
  const mine = await crux.createTeam(ada)
  const other = await crux.createTeam(ada)
  const client = crux.client(ada)
  const projectIn = (teamSlug: string, name: string) =>
    client.call('projects.create', { params: { teamSlug }, body: { name, type: 'versioned' } })
  const project = await projectIn(mine.slug, 'Before')
  const foreign = await projectIn(other.slug, 'Foreign')
  const gone = await projectIn(mine.slug, 'Gone')
  const params = { teamSlug: mine.slug, projectId: project.id }
  await client.call('projects.update', { params, body: { name: 'After' } })
  await client.call('projects.delete', { params: { ...params, projectId: gone.id } })
  await client
    .call('projects.update', { params: { ...params, projectId: foreign.id }, body: { name: 'Taken' } })
    .catch(() => undefined)
  const { items } = await client.call('audit-log.list', { params: { teamSlug: mine.slug }, query: always })
  const getSubject = (event: string) => items.filter((item) => item.event.endsWith(event)).map((item) => item.subject)
  expect(getSubject('projects.delete')).toEqual([undefined])
  expect(getSubject('projects.update')).toEqual(
    expect.arrayContaining([expect.objectContaining({ kind: 'project', id: project.id, name: 'After' })]),
  )
  expect(JSON.stringify(items.map((item) => item.subject))).not.toContain('Foreign')
})

it('a package is the subject of a change in it, unless the change names a version or a node', async () => {
  const { client, node, params: inTeam } = await getTestEnvironment(crux, ada, await crux.createTeam(ada))
  const { id: nodeId } = await node('eu-1')
  const made = await client.call('packages.create', { params: inTeam, body: { name: 'Shop', chainIds: [] } })
  const params = { ...inTeam, packageId: made.id }
  await client.call('packages.create-environment', { params, body: { name: 'prod', nodeId, prefix: 'shop' } })
  await client.call('packages.update', { params, body: { name: 'Web shop', chainIds: [] } })
  const { items } = await client.call('audit-log.list', { params: inTeam, query: always })
  const getSubject = (event: string) => items.find((item) => item.event.endsWith(event))?.subject
  expect(getSubject('packages.update')).toMatchObject({ kind: 'package', id: made.id, name: 'Web shop' })
  expect(getSubject('packages.create-environment')).toMatchObject({ kind: 'node', id: nodeId, name: 'eu-1' })
})

it('the subject of a versionless project has no version name', async () => {
  const { client, node, params: inTeam, version } = await getTestEnvironment(crux, ada, await crux.createTeam(ada))
  const { projectId, versionId } = await version({ name: 'rolling' })
  const { pool } = crux.app.database
  await pool.query(`update crux.project set name = 'Lab', type = 'versionless' where id = $1`, [projectId])
  const { id: nodeId } = await node('this-box')
  const { id: deploymentId } = await client.call('deployments.create', {
    params: inTeam,
    body: { versionId, nodeId, prefix: 'lab', protected: false },
  })
  await client.call('deployments.update', {
    params: { ...inTeam, deploymentId },
    body: { prefix: 'lab', protected: true, note: '', configBundles: [] },
  })
  const { items } = await client.call('audit-log.list', { params: inTeam, query: always })
  const getName = (event: string) => items.find((item) => item.event.endsWith(event))?.subject?.name
  expect(getName('deployments.update')).toBe('Lab on this-box')
  expect(getName('deployments.create')).toBe('Lab')
})
