import { afterAll, beforeAll, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../deploy-kit.ts'
import { startTestServer, type TestServer } from '../kit/index.ts'
import { createRecorder, expectRecorded, type Recording } from './recorder.ts'

let server: TestServer
let ours: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  ours = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())

it('packages, environments and their deployments have the shapes of the specification', async () => {
  const { owner, team } = ours
  const projectId = await ours.project('Shop')
  const first = await ours.version({ type: 'incremental', name: '1.0.0', projectId })
  const second = await ours.version({ type: 'incremental', name: '1.1.0', projectId, parentId: first.versionId })
  const node = await ours.node('machine')
  const recorder = createRecorder(server, {
    teamSlug: team.slug,
    userId: owner.id,
    projectId,
    firstId: first.versionId,
    secondId: second.versionId,
    nodeId: node.id,
  })
  const log: Recording = []
  const packages = `/api/${team.slug}/packages`
  const request = async (method: string, path: string, body?: unknown) => {
    log.push(await recorder.request(owner, method, path, body))
  }
  const findId = async (table: string) => {
    const { rows } = await server.app.database.pool.query<{ id: string }>(`select id from crux.${table} order by id`)
    const id = rows[0]?.id ?? ''
    recorder.name(id, table)
    return id
  }
  await request('GET', `/api/${team.slug}/projects/${projectId}/version-chains`)
  await request('POST', packages, { name: 'Platform', description: 'All of it', chainIds: [first.versionId] })
  const one = `${packages}/${await findId('package')}`
  await request('POST', `${one}/environments`, { name: 'dev', nodeId: node.id, prefix: 'dev' })
  const environment = `${one}/environments/${await findId('package_environment')}`
  await request('POST', `${environment}/deployments`, { versionId: first.versionId })
  await findId('deployment')
  await request('POST', `${environment}/deployments`, { versionId: first.versionId })
  await request('GET', environment)
  await request('GET', packages)
  await request('GET', one)
  await request('PUT', one, { name: 'Platform 2', chainIds: [] })
  await request('PUT', environment, { name: 'development', nodeId: node.id, prefix: 'dev' })
  await request('DELETE', environment)
  await request('DELETE', one)
  expectRecorded(log, 'packages')
})
