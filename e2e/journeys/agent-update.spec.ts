import { connectLocalNode, unique } from '@crux/test-kit'
import pg from 'pg'
import { expect, test } from '../kit/journey.ts'

test('the page of a node offers the update of its agent, asks first, and shows why it failed', async ({
  page,
  testSystem,
}) => {
  const { teamSlug, user } = testSystem.testEnvironment
  const name = unique('old-')
  const id = await connectLocalNode(user, teamSlug, name)
  const pool = new pg.Pool({ connectionString: testSystem.system.databaseUrl, max: 1 })
  // As an agent in a container reports it. The agent of this test is a process, and refuses the update itself.
  await pool.query(
    `update crux.node set agent_version = '0.9.0', agent_updatable = true, local_agent = false where id = $1`,
    [id],
  )
  await page.goto(`/${teamSlug}/nodes`)
  await expect(page.getByRole('button', { name: 'Update 1 agent' })).toBeVisible()
  await page.goto(`/${teamSlug}/nodes/${id}`)
  await expect(page.getByText('The agent is too old for this server')).toBeVisible()
  await page.getByRole('button', { name: 'Update agent' }).click()
  await expect(page.getByRole('dialog')).toContainText(`Update the agent of ${name}?`)
  await page.getByRole('dialog').getByRole('button', { name: 'Update agent' }).click()
  await expect(page.getByText('does not run in a container of its own')).toBeVisible()
  await pool.query(`update crux.node_update set state = 'preparing', ended_at = null where node_id = $1`, [id])
  await page.reload()
  await expect(page.getByRole('button', { name: 'Updating agent' })).toBeVisible()
  await pool.end()
  await user.client.call('nodes.delete', { params: { teamSlug, nodeId: id } })
})
