import { randomUUID } from 'node:crypto'
import { freePort } from '@crux/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { teamNetworkName } from '../src/engines/docker/containers/names.ts'
import { label } from '../src/engines/labels.ts'
import { lookAtGate, stopGate } from './kit/gate.ts'
import {
  askPort,
  FakeServer,
  loadPort,
  startTestAgent,
  startTestEnvironment,
  type TestAgent,
  type TestEnvironment,
  waitUntil,
  webImage,
} from './kit/index.ts'

let testEnvironment: TestEnvironment
let image: string
const made: string[] = []
beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
  image = (await testEnvironment.publish('web:1', webImage('one'))).reference
})
afterAll(async () => {
  for (const name of made)
    await testEnvironment.docker
      .getNetwork(name)
      .remove()
      .catch(() => undefined)
  await testEnvironment.dispose()
})

const networkNames = async () => (await testEnvironment.docker.listNetworks()).map(({ Name }) => Name)

async function makeTeamNetwork(teamId: string, nodeId: string): Promise<string> {
  const name = `crux-team-test-${randomUUID().slice(0, 8)}`
  made.push(name)
  const Labels = { [label.team]: teamId, [label.node]: nodeId, [label.teamNetwork]: 'left' }
  await testEnvironment.docker.createNetwork({ Name: name, Labels })
  return name
}

test('the successor of a deleted node holds its ports without a deployment and removes its unused networks', async () => {
  const { teamId, nodeId: deletedId } = testEnvironment.owner
  const port = await freePort()
  const release = testEnvironment.release({
    instances: [
      {
        image,
        config: {
          name: 'web',
          ports: [{ internal: 8080, external: port }],
          portGate: { enabled: true },
          networks: [{ key: 'shared' }],
        },
      },
    ],
  })
  expect(await testEnvironment.server.deployAndWait(release)).toMatchObject({ successful: true })
  expect(await askPort(port)).toBe('one')
  await testEnvironment.agent.stop()
  await stopGate(testEnvironment.dataDir)
  await expect(askPort(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })

  const shared = teamNetworkName(testEnvironment.owner, 'shared')
  const unused = await makeTeamNetwork(teamId, deletedId)
  const others = [await makeTeamNetwork(randomUUID(), deletedId), await makeTeamNetwork(teamId, randomUUID())]
  const nodeId = randomUUID()
  let successor: TestAgent | undefined
  try {
    // While the node is not deleted, another node of the team does not touch its objects.
    successor = await startTestAgent(testEnvironment.server, {
      token: testEnvironment.server.newInstallToken(),
      nodeId,
    })
    await waitUntil(
      'it connects',
      () => testEnvironment.server.links.at(-1)?.nodeId === nodeId && testEnvironment.server.connected,
    )
    const ask = (deletedNodeIds: string[]) =>
      testEnvironment.server.ask({ case: 'listContainers', value: { scope: { teamId, nodeId, deletedNodeIds } } })
    await ask([])
    await expect(askPort(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    expect(await networkNames()).toContain(unused)

    await ask([deletedId])
    expect(await waitUntil('the port answers', () => askPort(port).catch(() => undefined))).toBe('one')
    await waitUntil('the unused network goes', async () => !(await networkNames()).includes(unused))
    expect(await networkNames()).toEqual(expect.arrayContaining([shared, ...others]))

    // The port and the network that the last container shared are removed with it.
    const owner = { ...testEnvironment.owner, nodeId }
    const scope = { teamId, nodeId, deletedNodeIds: [deletedId] }
    expect((await testEnvironment.server.ask({ case: 'deleteContainers', value: { owner, scope } })).case).toBe('done')
    await waitUntil('the shared network goes', async () => !(await networkNames()).includes(shared))
    await waitUntil('the port is free', () =>
      askPort(port).then(
        () => false,
        (error) => error.code === 'ECONNREFUSED',
      ),
    )
    expect(await networkNames()).toEqual(expect.arrayContaining(others))
  } finally {
    await successor?.stop()
    if (successor) await stopGate(successor.dataDir)
    await successor?.dispose()
  }
})

test('a successor that connects after the deletion of a node holds its ports at once', async () => {
  await testEnvironment.restartAgent()
  const { nodeId: deletedId } = testEnvironment.owner
  const port = await freePort()
  const config = { name: 'again', ports: [{ internal: 8080, external: port }], portGate: { enabled: true } }
  expect(
    await testEnvironment.server.deployAndWait(testEnvironment.release({ instances: [{ image, config }] })),
  ).toMatchObject({
    successful: true,
  })
  await testEnvironment.agent.stop()
  await stopGate(testEnvironment.dataDir)
  testEnvironment.server.deletedNodeIds = [deletedId]
  const successor = await startTestAgent(testEnvironment.server, {
    token: testEnvironment.server.newInstallToken(),
    nodeId: randomUUID(),
  })
  try {
    expect(await waitUntil('the port answers', () => askPort(port).catch(() => undefined))).toBe('one')
  } finally {
    testEnvironment.server.deletedNodeIds = []
    await successor.stop()
    await stopGate(successor.dataDir)
    await successor.dispose()
  }
})

test('one of two nodes on an engine holds and keeps the port of a deleted node and the other one follows it', async () => {
  await testEnvironment.restartAgent()
  const { teamId, nodeId: deletedId } = testEnvironment.owner
  const port = await freePort()
  const config = { name: 'shared', ports: [{ internal: 8080, external: port }], portGate: { enabled: true } }
  expect(
    await testEnvironment.server.deployAndWait(testEnvironment.release({ instances: [{ image, config }] })),
  ).toMatchObject({
    successful: true,
  })
  await testEnvironment.agent.stop()
  await stopGate(testEnvironment.dataDir)

  const startNode = async () => {
    const [server, nodeId] = [new FakeServer(), randomUUID()]
    await server.start()
    Object.assign(server, { scope: { teamId, nodeId }, deletedNodeIds: [deletedId] })
    return { server, nodeId, agent: await startTestAgent(server, { token: server.newInstallToken(), nodeId }) }
  }
  type Node = Awaited<ReturnType<typeof startNode>>
  const nodes = await Promise.all([startNode(), startNode()])
  const getGate = ({ agent }: Node) => lookAtGate(agent.dataDir)
  const holds = async (node: Node) => (await getGate(node))?.ports.some((held) => held.port === port) ?? false
  /** Each time another deleted node is named, an agent reconciles its gate. */
  const haveLook = async ({ server, nodeId }: Node) => {
    const deletedNodeIds = [deletedId, randomUUID()]
    const value = { scope: { teamId, nodeId, deletedNodeIds } }
    expect((await server.ask({ case: 'listContainers', value }))?.case).toBe('containers')
  }
  const answers = () => askPort(port).catch(() => undefined)
  try {
    expect(await waitUntil('the port answers', answers)).toBe('one')
    await waitUntil('both have tried', async () => (await Promise.all(nodes.map(getGate))).every(Boolean))
    const holding = await Promise.all(nodes.map(holds))
    expect(holding.filter(Boolean)).toHaveLength(1)
    const requests = loadPort(port, 1)
    for (let round = 0; round < 5; round += 1) {
      const before = requests.total()
      await Promise.all(nodes.map(haveLook))
      await waitUntil('requests went on', () => requests.total() > before + 20)
    }
    await requests.stop()
    expect(requests.bad).toEqual([])
    expect(await Promise.all(nodes.map(holds))).toEqual(holding)

    // After a moment in which the port is free, both try to hold it again.
    const container = testEnvironment.docker.getContainer((await testEnvironment.inspect('shared')).Id)
    await container.stop()
    await waitUntil('the port is free', async () => !(await Promise.all(nodes.map(holds))).some(Boolean))
    await container.start()
    expect(await waitUntil('the port answers', answers)).toBe('one')
    await Promise.all(nodes.map(haveLook))
    const holders = await Promise.all(nodes.map(holds))
    expect(holders.filter(Boolean)).toHaveLength(1)

    const [holder, other] = holders[0] ? nodes : nodes.toReversed()
    await holder?.agent.stop()
    await stopGate(holder?.agent.dataDir ?? '')
    if (other) await haveLook(other)
    expect(await waitUntil('the port answers', answers)).toBe('one')
    expect(other && (await holds(other))).toBe(true)
  } finally {
    for (const { agent, server } of nodes) {
      await agent.stop()
      await stopGate(agent.dataDir)
      await agent.dispose()
      await server.stop()
    }
  }
})
