import type { Release } from '@crux/agent-protocol'
import { describe, expect, it } from 'vitest'
import { goodNews, journal, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer } from '../../test/kit/index.ts'

describe('a release that was not dispatched', () => {
  it('is dispatched again automatically, and ends with a reason if that can never succeed', async () => {
    const server = await startTestServer()
    const testEnvironment = await makeDeployTestEnvironment(server)
    const node = await testEnvironment.node()
    const registryId = await testEnvironment.registry({ user: 'ada', token: 'secret' })
    const agent = await testEnvironment.agent(node)
    const [lost, broken] = [
      await testEnvironment.deployment(await testEnvironment.version(), node.id),
      await testEnvironment.deployment(
        await testEnvironment.version({ images: [{ name: 'web', registryId }] }),
        node.id,
      ),
    ]
    const { pool } = server.app.database
    await testEnvironment.start(lost.id)
    const release = (await agent.command('deploy')).value as Release
    // As if the process had died between the commit and the dispatch.
    await pool.query('update crux.release set dispatched_at = null where deployment_id = $1', [lost.id])
    await server.server.deployments.leases.check()
    expect((await agent.command('deploy', 2)).value).toMatchObject({ key: { deploymentId: lost.id, number: 1 } })
    await agent.client.reportDeployment({ release: release.key, events: journal(goodNews(release)) })
    await pool.query(`update crux.registry set token = 'v1.gone.x.y' where id = $1`, [registryId])
    await testEnvironment.start(broken.id)
    const failed = await testEnvironment.waitForStatus(broken.id, 'failed')
    expect(failed.outcome).toMatch(/^The credentials of registry \w+ cannot be opened any more: enter them again\.$/)
    await server.stop()
  })
})
