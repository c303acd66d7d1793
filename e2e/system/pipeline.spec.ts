import { execFile } from 'node:child_process'
import { createDeployment, createService, setTag, signInAgain, unique, web } from '@crux/test-kit'
import { expect, test } from '../kit/test-system.ts'

// Runs the ready command of a pipeline with a token of Crux on the real engine.

const run = (command: string) =>
  new Promise<{ code: number; shown: string }>((resolve) => {
    const child = execFile('sh', ['-c', command], (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, shown: stdout + stderr }),
    )
  })

test('the command of a deployment token deploys, shows the outcome, and fails when the deployment fails', async ({
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  // A token needs a recent sign-in, and the tests before may take long.
  const { client } = await signInAgain(testSystem.system.url, testEnvironment.user)
  const service = await createService(testEnvironment, [
    { name: `app/${unique('pipe')}`, tag: '1', image: web('hello'), config: { name: 'web' } },
  ])
  const deployment = await createDeployment(testEnvironment, service, unique('p'))
  const params = { teamSlug: testEnvironment.teamSlug, deploymentId: deployment.id }
  const { curl, name } = await client.call('deployments.create-token', { params, body: { name: unique('pipe-') } })

  expect(await run(curl)).toEqual({ code: 0, shown: '{"status":"successful","reason":null}\n' })
  const [release] = await client.call('deployments.releases', { params })
  expect(release).toMatchObject({ status: 'successful', startedBy: { name }, current: true })

  await setTag(testEnvironment, service, 0, 'no-such-tag')
  const failed = await run(curl)
  expect(failed.code).toBe(1)
  expect(JSON.parse(failed.shown)).toMatchObject({ status: 'failed', reason: expect.stringContaining('no-such-tag') })

  await client.call('deployments.delete-token', { params })
  const refused = await run(curl)
  expect([refused.code, JSON.parse(refused.shown)]).toMatchObject([1, { status: 401, error: 'unauthorized' }])

  const query = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', skip: 0, take: 10, filter: name }
  const { items } = await client.call('audit-log.list', { params, query })
  expect(items.map(({ actorType, event, accepted }) => [actorType, event, accepted])).toEqual([
    ['deployment-token', 'deployment-start deployments.start', true],
    ['deployment-token', 'deployment-start deployments.start', true],
  ])
})
