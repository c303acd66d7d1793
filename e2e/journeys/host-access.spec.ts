import { createDeployment, createService, deploy, idle, unique } from '@crux/test-kit'
import { expect, test } from '../kit/journey.ts'

test('access to the node is listed before the start, with who confirmed it and what changed since', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const { client } = testEnvironment.user
  const inTeam = { teamSlug: testEnvironment.teamSlug }
  const service = await createService(testEnvironment, [
    { name: unique('host/agent-'), tag: '1', image: idle(), config: { name: 'agent', networkMode: 'host' } },
  ])
  const { id } = await createDeployment(testEnvironment, service, unique('host'))
  const access = page.getByRole('region', { name: 'Access to the node' })
  const open = () => page.goto(`/${testEnvironment.teamSlug}/deployments/${id}`)
  await open()
  await expect(access.getByText('networkMode host')).toBeVisible()
  await expect(access).toContainText('Deploying it confirms this for tokens too.')

  expect((await deploy(testEnvironment, id)).status).toBe('successful')
  await open()
  await expect(access).toContainText('Confirmed by Ada Lovelace on ')

  const deployment = await client.call('deployments.get', { params: { ...inTeam, deploymentId: id } })
  await client.call('container-configurations.update', {
    params: { ...inTeam, configId: deployment.instances[0]?.config.id ?? '' },
    body: { config: { environment: [{ id: crypto.randomUUID(), key: 'KEEP_DAYS', value: '30' }] } },
  })
  await open()
  await expect(access).toContainText(/Changed since Ada Lovelace confirmed it on .*: environment\.KEEP_DAYS\./)
})
