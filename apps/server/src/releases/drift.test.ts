import { EngineKind, FailureCode, ObjectDifferenceType, type Release } from '@crux/agent-protocol'
import type { Client } from '@crux/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  badNews,
  type DeployTestEnvironment,
  deployWell,
  journal,
  makeDeployTestEnvironment,
} from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'

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
const paramsTo = ({ id }: { id: string }) => ({ ...testEnvironment.params, deploymentId: id })
const getDrift = (deployment: { id: string }, as: Client = testEnvironment.client) =>
  as.call('deployments.drift', { params: paramsTo(deployment) })
const putBack = (deployment: { id: string }, number: number, as: Client = testEnvironment.client) =>
  as.call('deployments.start-release', {
    params: { ...paramsTo(deployment), number },
    query: {},
    body: { takeBackFields: true },
  })
const listAudited = async (userId: string) => {
  const { rows } = await server.app.database.pool.query(
    'select event, accepted, data from crux.audit_log where actor_id = $1 order by created_at desc limit 1',
    [userId],
  )
  return rows[0]
}

/** A release that runs on a cluster, pulled with credentials of a registry. */
async function makeRunning() {
  const node = await testEnvironment.node()
  await server.app.database.pool.query(`update crux.node set type = 'k8s' where id = $1`, [node.id])
  const agent = await testEnvironment.agent(node, { engine: EngineKind.KUBERNETES } as object)
  const registryId = await testEnvironment.registry({ user: 'puller', token: 'of the registry' })
  const version = await testEnvironment.version({ images: [{ name: 'web', registryId }] })
  const deployment = await testEnvironment.deployment(version, node.id)
  await testEnvironment.start(deployment.id)
  const first = await deployWell(agent)
  await testEnvironment.waitForStatus(deployment.id, 'successful')
  return { agent, deployment, first, node }
}

describe('what differs in a cluster', () => {
  it('is asked of the agent with the release as it ran, and shown to every member', async () => {
    const { agent, deployment, first } = await makeRunning()
    expect(first.instances[0]?.registryAuth?.password).toBe('of the registry')
    const member = server.client(await server.addMember(testEnvironment.team, 'user'))
    const asked = [getDrift(deployment), getDrift(deployment, member)]
    const { commandId, value } = await agent.command('findDrift')
    const [instance] = first.instances
    expect(value).toMatchObject({
      release: {
        key: { deploymentId: deployment.id, number: 1 },
        owner: first.owner,
        takeBackFields: false,
        instances: [
          {
            instanceId: instance?.instanceId,
            imageDigest: `sha256:${instance?.instanceId.replace(/-/g, '')}`,
          },
        ],
      },
      scope: { teamId: testEnvironment.team.id, nodeId: first.owner?.nodeId },
    })
    const [sent] = (value as { release: Release }).release.instances
    expect(sent?.registryAuth).toBeUndefined()
    expect(JSON.parse(sent?.configJson ?? '')).toEqual(JSON.parse(instance?.configJson ?? ''))
    const fields = [
      { path: 'spec.replicas', wanted: '1', found: '2' },
      { path: 'data.PASSWORD', wanted: 'shown', found: 'all the same', secret: true },
    ]
    const objects = [
      { kind: 'Deployment', name: 'web', instanceId: instance?.instanceId, type: ObjectDifferenceType.CHANGED, fields },
      { kind: 'Service', name: 'web', type: 7 as ObjectDifferenceType },
      { kind: 'Ingress', name: 'x'.repeat(100_000), type: ObjectDifferenceType.ADDED },
    ]
    await agent.respond(commandId, { case: 'drift', value: { objects } })
    const drift = {
      release: 1,
      objects: [
        {
          kind: 'Deployment',
          name: 'web',
          containerName: 'web',
          change: 'changed',
          fields: [
            { path: 'spec.replicas', wanted: '1', found: '2', secret: false },
            { path: 'data.PASSWORD', wanted: null, found: null, secret: true },
          ],
        },
        { kind: 'Ingress', name: 'x'.repeat(256), containerName: null, change: 'added', fields: [] },
      ],
    }
    expect(await Promise.all(asked)).toEqual([drift, drift])
    // Both asked at the same time, and the cluster was compared once.
    expect(agent.received.filter(({ command }) => command.case === 'findDrift')).toHaveLength(1)
  })

  it('is put back by a new release of the same content, which is audited as a start and refused for another release', async () => {
    const { agent, deployment, first } = await makeRunning()
    const user = await server.addMember(testEnvironment.team, 'user')
    await putBack(deployment, 1, server.client(user))
    const second = (await agent.command('deploy', 2)).value as Release
    expect(second).toMatchObject({ key: { number: 2 }, takeBackFields: true, recreate: false })
    expect(JSON.parse(second.instances[0]?.configJson ?? '')).toEqual(JSON.parse(first.instances[0]?.configJson ?? ''))
    expect(second.instances[0]?.imageDigest).toMatch(/^sha256:/)
    expect(await listAudited(user.id)).toMatchObject({ accepted: true, data: { takeBackFields: true } })
    expect(JSON.stringify(await testEnvironment.events(deployment.id))).toContain(
      'back to release 1, taking back what was changed in the cluster',
    )
    expect(await refusal(getDrift(deployment))).toBe('412 status')
    await deployWell(agent, 2)
    await testEnvironment.waitForStatus(deployment.id, 'successful')
    expect(await refusal(putBack(deployment, 1))).toBe('412 number')
    await testEnvironment.client.call('deployments.start-release', {
      params: { ...paramsTo(deployment), number: 1 },
      query: {},
    })
    const third = (await agent.command('deploy', 3)).value as Release
    expect(third.takeBackFields).toBe(false)
    await agent.client.reportDeployment({ release: third.key, events: journal(badNews('no')) })
    await testEnvironment.waitForStatus(deployment.id, 'failed')
  })

  it('is not shown while a release begins, without the agent, on another engine, or where nothing runs', async () => {
    const { agent, deployment } = await makeRunning()
    const early = refusal(getDrift(deployment))
    const { commandId } = await agent.command('findDrift')
    await testEnvironment.start(deployment.id)
    await agent.respond(commandId, { case: 'drift', value: { objects: [] } })
    expect(await early).toBe('412 status')
    await deployWell(agent, 2)
    await testEnvironment.waitForStatus(deployment.id, 'successful')
    const refused = getDrift(deployment).catch((error: unknown) => error)
    const second = await agent.command('findDrift', 2)
    const message = 'the secret KEY cannot be read on this node: enter its value again'
    await agent.respond(second.commandId, { case: 'failure', value: { code: FailureCode.REFUSED, message } })
    expect(await refused).toMatchObject({ status: 412, message })
    agent.cut()
    await agent.ended
    const away = await getDrift(deployment).catch((error: unknown) => error)
    expect(away).toMatchObject({ status: 412, property: 'node' })

    const node = await testEnvironment.node()
    const onDocker = await testEnvironment.deployment(await testEnvironment.version(), node.id)
    expect(await getDrift(onDocker)).toEqual({ release: null, objects: [] })
    const docker = await testEnvironment.agent(node)
    await testEnvironment.start(onDocker.id)
    await deployWell(docker)
    await testEnvironment.waitForStatus(onDocker.id, 'successful')
    expect(await refusal(getDrift(onDocker))).toBe('412 node')
    expect(await refusal(putBack(onDocker, 1))).toBe('412 node')
    expect(docker.received.filter(({ command }) => command.case === 'findDrift')).toEqual([])
  })
})
