import type { Release } from '@crux/agent-protocol'
import { deploymentStatuses, versionTypes } from '@crux/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DeployTestEnvironment, deployWell, journal, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import type { ScriptedAgent } from '../../test/scripted-agent.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
let node: { id: string; token: string }
let agent: ScriptedAgent
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
  node = await testEnvironment.node()
  agent = await testEnvironment.agent(node)
})
afterAll(() => server.stop())

const actions = ['edit', 'configure', 'copy', 'cancel', 'roll back', 'deploy', 'delete'] as const
type Row = Record<(typeof actions)[number], string>
const yes = 'yes'
/** The actions that each status allows, and the response to each refused one. */
const table: Record<string, Row> = {
  'preparing incremental': row({ cancel: '412 status', 'roll back': '412 status' }),
  'preparing rolling': row({ cancel: '412 status', 'roll back': '412 status' }),
  'in-progress incremental': underWay(),
  'in-progress rolling': underWay(),
  'successful incremental': row({
    edit: '412 status',
    configure: '400 configId',
    cancel: '412 status',
    deploy: '412 status',
  }),
  'successful rolling': row({ cancel: '412 status' }),
  'failed incremental': row({ cancel: '412 status' }),
  'failed rolling': row({ cancel: '412 status' }),
  'obsolete incremental': row({ edit: '412 status', configure: '400 configId', cancel: '412 status' }),
  'obsolete rolling': row({ edit: '412 status', configure: '400 configId', cancel: '412 status' }),
}
function row(refused: Partial<Row>): Row {
  return { edit: yes, configure: yes, copy: yes, cancel: yes, 'roll back': yes, deploy: yes, delete: yes, ...refused }
}
function underWay(): Row {
  return row({
    edit: '412 status',
    configure: '400 configId',
    copy: '412 status',
    'roll back': '409 id',
    deploy: '409 id',
    delete: '412 status',
  })
}

let taken = 0
/** A deployment in this status; every one that was deployed has a successful first release. */
async function deploymentIn(status: string, type: 'incremental' | 'rolling') {
  const deployment = await testEnvironment.deployment(await testEnvironment.version({ type }), node.id)
  const { id } = deployment
  if (status !== 'preparing') {
    await testEnvironment.start(id)
    await deployWell(agent, ++taken)
    await testEnvironment.waitForStatus(id, 'successful')
    await server.app.database.pool.query('update crux.deployment set status = $2 where id = $1', [
      id,
      status === 'in-progress' ? 'failed' : status,
    ])
  }
  if (status === 'in-progress') {
    await testEnvironment.start(id)
    await agent.command('deploy', ++taken)
  }
  const [instance] = (await testEnvironment.get(id)).instances
  return { id, prefix: deployment.prefix, instanceId: instance?.id ?? '' }
}

async function attempt(action: keyof Row, { id, prefix, instanceId }: Awaited<ReturnType<typeof deploymentIn>>) {
  const { call } = testEnvironment.client
  const params = { ...testEnvironment.params, deploymentId: id }
  const started = async () => {
    const { value } = await agent.command('deploy', ++taken)
    const key = (value as Release).key
    const events = journal([{ event: { case: 'outcome', value: { successful: false, reason: 'enough' } } }])
    await agent.client.reportDeployment({ release: key, events })
    await testEnvironment.waitForStatus(id, 'failed')
  }
  switch (action) {
    case 'edit':
      return call('deployments.update', { params, body: { prefix, protected: false, note: 'changed' } })
    case 'configure':
      return call('deployments.update-instance', { params: { ...params, instanceId }, body: { config: { tty: true } } })
    case 'copy':
      return call('deployments.copy', { params, body: { nodeId: node.id, prefix: `${prefix}-copy` } })
    case 'cancel':
      return call('deployments.cancel', { params })
    case 'roll back':
      await call('deployments.start-release', { params: { ...params, number: 1 }, query: {} })
      return started()
    case 'deploy':
      await testEnvironment.start(id)
      return started()
    case 'delete':
      return call('deployments.delete', { params, query: {} })
  }
}

for (const status of deploymentStatuses)
  for (const type of versionTypes)
    it(`a ${status} ${type} deployment allows the actions of the table, and reports the same before`, async () => {
      const expected = table[`${status} ${type}`]
      const found: Partial<Row> = {}
      let one = await deploymentIn(status, type)
      const said = await testEnvironment.get(one.id)
      for (const action of actions) {
        found[action] = await attempt(action, one).then(
          () => yes,
          (error: { status: number; property?: string }) => `${error.status} ${error.property}`,
        )
        // A start has changed its status.
        if (found[action] === yes && (action === 'roll back' || action === 'deploy') && status !== 'failed')
          one = await deploymentIn(status, type)
      }
      expect(found).toEqual(expected)
      const { mutable, deployable, deletable, copiable } = said
      const may = (action: keyof Row) => expected?.[action] === yes
      expect({ mutable, deployable, deletable, copiable }).toEqual({
        mutable: may('edit'),
        deployable: may('deploy'),
        deletable: may('delete'),
        copiable: may('copy'),
      })
    })
