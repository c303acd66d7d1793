import { DeletionState, EngineKind, FailureCode } from '@crux/agent-protocol'
import type { Client } from '@crux/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { type Someone, startTestServer, type TestServer } from '../../test/kit/index.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())

const refusal = (call: Promise<unknown>) =>
  call.then(
    () => 'accepted',
    (error) => `${error.status} ${error.property}`,
  )
const prefix = 'shop'
const web = { name: 'web-data', uid: 'uid-1' }
const cache = { name: 'web-cache', uid: 'uid-2' }

async function makeCluster() {
  const node = await testEnvironment.node()
  await server.app.database.pool.query(`update crux.node set type = 'k8s' where id = $1`, [node.id])
  const agent = await testEnvironment.agent(node, { engine: EngineKind.KUBERNETES } as object)
  return { node, agent }
}
const paramsTo = (nodeId: string) => ({ ...testEnvironment.params, nodeId, prefix })
const getData = (nodeId: string, as: Client = testEnvironment.client) =>
  as.call('prefix-data.get', { params: paramsTo(nodeId) })
const deleteData = (
  nodeId: string,
  body: { claims: { name: string; uid: string }[]; namespace: boolean },
  as: Client = testEnvironment.client,
) => as.call('prefix-data.delete', { params: paramsTo(nodeId), body })
const findAudited = async (accepted: boolean) => {
  const { rows } = await server.app.database.pool.query(
    `select data from crux.audit_log where event = 'prefix-data prefix-data.delete' and accepted = $1
      order by created_at desc limit 1`,
    [accepted],
  )
  return rows[0]?.data
}

describe('what stays under a prefix of a cluster', () => {
  it('is shown to every member as the agent lists it for the team and node', async () => {
    const { agent, node } = await makeCluster()
    const member = server.client(await server.addMember(testEnvironment.team, 'user'))
    const asked = getData(node.id, member)
    const { commandId, value } = await agent.command('findPrefixData')
    expect(value).toMatchObject({ prefix, scope: { teamId: testEnvironment.team.id, nodeId: node.id } })
    await agent.respond(commandId, {
      case: 'prefixData',
      value: {
        claims: [
          {
            key: web,
            volumeName: 'pvc-1',
            size: '10Gi',
            storageClass: 'fast',
            phase: 'Bound',
            createdAt: { seconds: 1_700_000_000n, nanos: 0 },
          },
          { key: cache, size: '1Gi', phase: 'Pending' },
        ],
        namespaceExists: true,
        foreignObjects: [{ kind: 'Service', name: 'x'.repeat(10_000) }],
      },
    })
    expect(await asked).toEqual({
      claims: [
        {
          ...web,
          volumeName: 'pvc-1',
          size: '10Gi',
          storageClass: 'fast',
          phase: 'Bound',
          createdAt: '2023-11-14T22:13:20.000Z',
        },
        { ...cache, volumeName: null, size: '1Gi', storageClass: null, phase: 'Pending', createdAt: null },
      ],
      namespace: { exists: true, reason: null, foreignObjects: [{ kind: 'Service', name: 'x'.repeat(256) }] },
    })
  })

  it('is not asked of another team, of a Docker node, or without an agent', async () => {
    const { agent, node } = await makeCluster()
    const stranger = server.signUp('Eve')
    const other = await server.createTeam(stranger)
    const theirs = server
      .client(stranger)
      .call('prefix-data.get', { params: { teamSlug: other.slug, nodeId: node.id, prefix } })
    expect(await refusal(theirs)).toBe('404 id')
    const docker = await testEnvironment.node()
    await testEnvironment.agent(docker)
    expect(await refusal(getData(docker.id))).toBe('412 node')
    expect(await refusal(deleteData(docker.id, { claims: [web], namespace: false }))).toBe('412 node')
    agent.cut()
    await expect.poll(() => refusal(getData(node.id))).toBe('404 agent')
  })
})

describe('the deletion of what stays', () => {
  it('names what is deleted and what is not, also in the audit log', async () => {
    const { agent, node } = await makeCluster()
    const deleting = deleteData(node.id, { claims: [web, cache, web], namespace: true })
    const { commandId, value } = await agent.command('deletePrefixData')
    expect(value).toMatchObject({
      prefix,
      scope: { teamId: testEnvironment.team.id, nodeId: node.id },
      claims: [web, cache],
      namespace: true,
    })
    await agent.respond(commandId, {
      case: 'deletedPrefixData',
      value: {
        claims: [
          { key: cache, state: DeletionState.KEPT, reason: 'the claim web-cache is used by the pod backup' },
          { key: web, state: DeletionState.DELETED },
        ],
        namespace: { state: DeletionState.KEPT, reason: 'it stays with its claims' },
      },
    })
    expect(await deleting).toEqual({
      claims: [
        { ...web, state: 'deleted', reason: null },
        { ...cache, state: 'kept', reason: 'the claim web-cache is used by the pod backup' },
      ],
      namespace: { state: 'kept', reason: 'it stays with its claims' },
    })
    expect(await findAudited(true)).toMatchObject({
      prefix,
      deletedClaims: ['web-data'],
      keptClaims: ['web-cache'],
      keptNamespace: prefix,
    })
  })

  it('is for admins, with a token of the scope full, and reaches no agent otherwise', async () => {
    const { agent, node } = await makeCluster()
    const body = { claims: [web], namespace: true }
    const user = server.client(await server.addMember(testEnvironment.team, 'user'))
    expect(await refusal(deleteData(node.id, body, user))).toMatch(/^403/)
    expect(await findAudited(false)).toMatchObject({ refused: { error: 'forbidden' } })
    const withToken = async (scope: 'deploy' | 'full'): Promise<Someone> => {
      const made = await testEnvironment.client.call('tokens.create', {
        body: { name: `a token to ${scope}`, scope, expirationInDays: 0 },
      })
      return { ...testEnvironment.owner, token: made.token }
    }
    expect(await refusal(deleteData(node.id, body, server.client(await withToken('deploy'))))).toBe('403 token')
    expect(agent.received.filter(({ command }) => command.case === 'deletePrefixData')).toEqual([])
    const admin = await server.addMember(testEnvironment.team, 'admin')
    const deleting = deleteData(node.id, { claims: [web], namespace: false }, server.client(admin))
    const { commandId } = await agent.command('deletePrefixData')
    await agent.respond(commandId, {
      case: 'deletedPrefixData',
      value: { claims: [{ key: web, state: DeletionState.DELETING, reason: 'held' }] },
    })
    expect(await deleting).toEqual({ claims: [{ ...web, state: 'deleting', reason: 'held' }], namespace: null })
  })

  it('is refused while a release is in progress, for nothing, and for what is no prefix', async () => {
    const { agent, node } = await makeCluster()
    const version = await testEnvironment.version()
    const deployment = await testEnvironment.deployment(version, node.id, prefix)
    await testEnvironment.start(deployment.id)
    await agent.command('deploy')
    expect(await refusal(deleteData(node.id, { claims: [web], namespace: false }))).toBe('412 status')
    await deployWell(agent)
    await testEnvironment.waitForStatus(deployment.id, 'successful')
    expect(await refusal(deleteData(node.id, { claims: [], namespace: false }))).toBe('400 claims')
    const params = { ...testEnvironment.params, nodeId: node.id, prefix: '..' }
    expect(await refusal(testEnvironment.client.call('prefix-data.get', { params }))).toMatch(/^40[04]/)
    expect(agent.received.filter(({ command }) => command.case === 'deletePrefixData')).toEqual([])
  })

  it('says what the agent refuses, and accepts no answer that leaves a claim out', async () => {
    const { agent, node } = await makeCluster()
    const refused = deleteData(node.id, { claims: [web], namespace: false }).catch((error: unknown) => error)
    const first = await agent.command('deletePrefixData')
    const message = 'The prefix shop still has containers: web. Delete them first'
    await agent.respond(first.commandId, { case: 'failure', value: { code: FailureCode.CONFLICT, message } })
    expect(await refused).toMatchObject({ status: 412, description: expect.stringContaining(message) })
    const answered = refusal(deleteData(node.id, { claims: [web], namespace: false }))
    const second = await agent.command('deletePrefixData', 2)
    await agent.respond(second.commandId, { case: 'deletedPrefixData', value: { claims: [] } })
    expect(await answered).toBe('502 agent')
  })
})
