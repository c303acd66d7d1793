import { randomUUID } from 'node:crypto'
import { connectLocalNode, createDeployment, createService, deploy, idle, unique } from '@crux/test-kit'
import pg from 'pg'
import { expect, test } from '../kit/journey.ts'

const refusal = 'does not run in a container of its own'

test('agents are updated from the list of nodes or from the page of one, which show why an update failed', async ({
  page,
  testSystem,
}) => {
  const { teamSlug, user } = testSystem.testEnvironment
  const names = [unique('old-a-'), unique('old-b-')]
  const ids = await Promise.all(names.map((name) => connectLocalNode(user, teamSlug, name)))
  const [name = ''] = names
  const [id = ''] = ids
  const pool = new pg.Pool({ connectionString: testSystem.system.databaseUrl, max: 1 })
  // As agents in containers report it. The agents of this test are processes, and refuse the update themselves.
  await pool.query(
    `update crux.node set agent_version = '0.9.0', agent_updatable = true, local_agent = false where id = any($1)`,
    [ids],
  )
  const countFailures = async () =>
    (await pool.query(`select from crux.node_event where node_id = $1 and event = 'update' and data ? 'error'`, [id]))
      .rowCount

  await test.step('from the list', async () => {
    await page.goto(`/${teamSlug}/nodes`)
    await page.getByRole('button', { name: 'Update 2 agents' }).click()
    const question = page.getByRole('dialog', { name: 'Update 2 agents?' })
    for (const each of names) await expect(question).toContainText(each)
    await question.getByRole('button', { name: 'Update 2 agents' }).click()
    await Promise.all(
      names.map((each) =>
        expect(page.getByText(`The agent of ${each} was not updated: The agent ${refusal}`)).toBeVisible(),
      ),
    )
    await expect(page.getByRole('button', { name: 'Update 2 agents' })).toBeVisible()
    await expect(page.getByRole('row', { name }).getByText('Outdated')).toBeVisible()
  })

  await test.step('from the page of a node', async () => {
    await page.goto(`/${teamSlug}/nodes/${id}`)
    await expect(page.getByText('The last update of the agent failed')).toContainText(refusal)
    await page.getByRole('button', { name: 'Update agent' }).click()
    await expect(page.getByRole('dialog')).toContainText(`Update the agent of ${name}?`)
    await page.getByRole('dialog').getByRole('button', { name: 'Update agent' }).click()
    // The text of the previous failure is still on the page.
    await expect.poll(countFailures).toBe(2)
    await expect(page.getByText('The last update of the agent failed')).toContainText(refusal)
    await pool.query(`update crux.node_update set state = 'preparing', ended_at = null where node_id = $1`, [id])
    await page.reload()
    await expect(page.getByRole('button', { name: 'Updating agent' })).toBeVisible()
  })
  await pool.end()
  for (const nodeId of ids) await user.client.call('nodes.delete', { params: { teamSlug, nodeId } })
})

test('containers are shown while the agent of their node is updated, and their buttons say why they are disabled', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const { teamSlug, nodeId } = testEnvironment
  const prefix = unique('upd')
  const name = unique('i')
  const service = await createService(testEnvironment, [{ name: `upd/${name}`, tag: '1', image: idle() }])
  const deployment = await createDeployment(testEnvironment, service, prefix)
  expect((await deploy(testEnvironment, deployment.id)).status).toBe('successful')
  const pool = new pg.Pool({ connectionString: testSystem.system.databaseUrl, max: 1 })
  await pool.query(
    `insert into crux.node_update (node_id, id, state, token_hash, from_version, started_by_id, started_by_name, deadline_at)
     values ($1, $2, 'ready', $3, '0.9.0', 'ada', 'Ada Lovelace', now() + interval '5 minutes')`,
    [nodeId, randomUUID(), randomUUID()],
  )
  await page.goto(`/${teamSlug}/nodes/${nodeId}?prefix=${prefix}`)
  await expect(page.getByText('The new agent is ready.')).toBeVisible()
  const row = page.getByRole('row', { name: `${prefix}-${name}` })
  await expect(row.getByText('Running')).toBeVisible()
  for (const action of ['Stop', 'Restart', 'Delete'])
    await expect(row.getByRole('button', { name: action })).toHaveAttribute('aria-disabled', 'true')
  await row.getByRole('button', { name: 'Stop' }).hover()
  await expect(page.getByRole('tooltip')).toContainText('is being updated: try again when the update has ended')
  await pool.query('delete from crux.node_update where node_id = $1', [nodeId])
  await page.reload()
  await expect(row.getByRole('button', { name: 'Stop' })).not.toHaveAttribute('aria-disabled', 'true')
  await pool.end()
})
