import { execFile } from 'node:child_process'
import type { Release } from '@crux/agent-protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  badNews,
  type DeployTestEnvironment,
  deployWell,
  journal,
  makeDeployTestEnvironment,
  type SeededVersion,
} from '../../test/deploy-kit.ts'
import { dial } from '../../test/kit/dial.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'

let crux: TestServer
let testEnvironment: DeployTestEnvironment
let node: Awaited<ReturnType<DeployTestEnvironment['node']>>
let version: SeededVersion
let serial = 0
beforeAll(async () => {
  crux = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(crux)
  node = await testEnvironment.node()
  await testEnvironment.agent(node)
  version = await testEnvironment.version({ type: 'rolling' })
})
afterAll(() => crux.stop())

const at = (deploymentId: string) => ({ ...testEnvironment.params, deploymentId })
const makeToken = (deploymentId: string, client = testEnvironment.client) =>
  client.call('deployments.create-token', { params: at(deploymentId), body: { name: `Pipeline ${++serial}` } })
const start = (deploymentId: string, token: string, query = '') =>
  crux.request(`/api/${testEnvironment.team.slug}/deployments/${deploymentId}/start${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
const run = (command: string) =>
  new Promise<{ code: number; shown: string }>((resolve) => {
    const child = execFile('sh', ['-c', command], (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, shown: stdout + stderr }),
    )
  })

describe("a deployment's token", () => {
  it('exists for rolling versions only, once, under a name that is unique in the team', async () => {
    const incremental = await testEnvironment.deployment(
      await testEnvironment.version({ type: 'incremental' }),
      node.id,
    )
    const rolling = await testEnvironment.deployment(version, node.id)
    const other = await testEnvironment.deployment(version, node.id)
    const ask = (id: string, name: string) =>
      testEnvironment.client.request('deployments.create-token', {
        params: at(id),
        body: { name, expirationInDays: 30 },
      })
    await expect(ask(incremental.id, 'Mine')).rejects.toMatchObject({ status: 412, property: 'versionType' })
    const { data: made } = await ask(rolling.id, 'Nightly build')
    await expect(ask(rolling.id, 'Second')).rejects.toMatchObject({ status: 409, property: 'deploymentId' })
    await expect(ask(other.id, 'Nightly build')).rejects.toMatchObject({ status: 409, property: 'name' })

    const { token: text, curl, ...shown } = made
    expect(curl).toContain(text)
    expect((await testEnvironment.get(rolling.id)).token).toEqual(shown)
    expect((await testEnvironment.get(other.id)).token).toBeNull()
  })

  it('shows its creator to all members of the team', async () => {
    const maker = await crux.addMember(testEnvironment.team, 'user', 'Grace Hopper')
    const deployment = await testEnvironment.deployment(version, node.id)
    const made = await makeToken(deployment.id, crux.client(maker))
    expect([made.createdBy, (await testEnvironment.get(deployment.id)).token?.createdBy]).toEqual([
      'Grace Hopper',
      'Grace Hopper',
    ])
  })

  it('starts its own deployment and does nothing else', async () => {
    const mine = await testEnvironment.deployment(version, node.id)
    const other = await testEnvironment.deployment(version, node.id)
    const { token } = await makeToken(mine.id)
    expect((await start(other.id, token)).status).toBe(403)
    const headers = { authorization: `Bearer ${token}` }
    for (const path of ['/api/teams', `/api/${testEnvironment.team.slug}/deployments/${mine.id}`])
      expect((await crux.request(path, { headers })).status).toBe(403)
    await expect(dial(crux.url, token)).rejects.toThrow('status 403')
    expect((await start(mine.id, token)).status).toBe(204)
  })

  it('is named as the author of a start, to users and in the audit log, also once it is revoked', async () => {
    const deployment = await testEnvironment.deployment(version, node.id)
    const { token, id, name } = await makeToken(deployment.id)
    expect((await start(deployment.id, token)).status).toBe(204)
    await testEnvironment.client.call('deployments.delete-token', { params: at(deployment.id) })
    expect((await start(deployment.id, token)).status).toBe(401)
    expect(await testEnvironment.get(deployment.id)).toMatchObject({ updatedByName: name, token: null })
    const [release] = await testEnvironment.releases(deployment.id)
    expect(release?.startedBy).toEqual({ id, name })
    const { rows } = await crux.app.database.pool.query(
      'select actor_type, actor_name, accepted from crux.audit_log where actor_id = $1',
      [id],
    )
    expect(rows).toEqual([{ actorType: 'deployment-token', actorName: name, accepted: true }])
    expect((await makeToken(deployment.id)).id).not.toBe(id)
  })

  it('is revoked by its creator, or by an admin', async () => {
    const [maker, other, admin] = [
      await crux.addMember(testEnvironment.team, 'user'),
      await crux.addMember(testEnvironment.team, 'user'),
      await crux.addMember(testEnvironment.team, 'admin'),
    ]
    const deployment = await testEnvironment.deployment(version, node.id)
    const revoke = (as: typeof maker) =>
      crux.client(as).request('deployments.delete-token', { params: at(deployment.id) })
    for (const allowed of [maker, admin]) {
      await makeToken(deployment.id, crux.client(maker))
      await expect(revoke(other)).rejects.toMatchObject({ status: 403, property: 'token' })
      expect((await revoke(allowed)).status).toBe(204)
    }
    await expect(revoke(admin)).rejects.toMatchObject({ status: 404, property: 'token' })
  })
})

describe('a start that waits', () => {
  it('answers 200 with the end, and the suggested command shows it and succeeds', async () => {
    const target = await testEnvironment.node()
    const agent = await testEnvironment.agent(target)
    const deployment = await testEnvironment.deployment(version, target.id)
    const { curl } = await makeToken(deployment.id)
    const [ran] = await Promise.all([run(curl), deployWell(agent)])
    expect(ran).toEqual({ code: 0, shown: '{"status":"successful","reason":null}\n' })
  })

  it('reports the reason of a failure, and the suggested command fails', async () => {
    const target = await testEnvironment.node()
    const agent = await testEnvironment.agent(target)
    const deployment = await testEnvironment.deployment(version, target.id)
    const { curl } = await makeToken(deployment.id)
    const failed = agent.command('deploy').then(({ value }) =>
      agent.client.reportDeployment({
        release: (value as Release).key,
        events: journal(badNews('port 80 is taken')),
      }),
    )
    const [ran] = await Promise.all([run(curl), failed])
    expect(ran.code).toBe(1)
    expect(JSON.parse(ran.shown)).toEqual({ status: 'failed', reason: 'port 80 is taken' })
  })

  it('answers 202 when the time is up, and is recorded before it waits', async () => {
    const deployment = await testEnvironment.deployment(version, node.id)
    const { token, id } = await makeToken(deployment.id)
    const answer = start(deployment.id, token, '?wait=2')
    const recorded = async () =>
      (await crux.app.database.pool.query('select accepted from crux.audit_log where actor_id = $1', [id])).rows
    await until(async () => (await recorded()).length > 0, 1_500)
    expect((await answer).status).toBe(202)
    expect(await (await answer).json()).toEqual({ status: 'in-progress', reason: null })
    expect(await recorded()).toEqual([{ accepted: true }])
    expect((await start(deployment.id, token, '?wait=601')).status).toBe(400)
  })
})
