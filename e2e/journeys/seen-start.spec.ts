import { createDeployment, createService, finished, idle, unique } from '@crux/test-kit'
import { expect, test } from '../kit/journey.ts'

test('a start is refused when the configuration changed after the page showed it, and the page shows what will change now', async ({
  page,
  stage,
}) => {
  const { world } = stage
  const prefix = unique('seen')
  const service = await createService(world, [
    {
      name: unique('seen/i'),
      tag: '1',
      image: idle(),
      config: { name: 'web', environment: [{ key: 'A', value: '1' }] },
    },
  ])
  const { id } = await createDeployment(world, service, prefix)
  // The browser hears nothing of the edit, as while the network is slow.
  await page.routeWebSocket(/.*/, () => undefined)
  await page.goto(`/${world.teamSlug}/deployments/${id}`)
  await expect(page.getByText('Create', { exact: false }).first()).toBeVisible()
  const { instances } = await world.person.client.call('deployments.get', {
    params: { teamSlug: world.teamSlug, deploymentId: id },
  })
  await world.person.client.call('container-configurations.update', {
    params: { teamSlug: world.teamSlug, configId: instances[0]?.config.id ?? '' },
    body: { config: { environment: [{ key: 'A', value: '2' }] } },
  })
  const deploy = page.getByRole('button', { name: 'Deploy', exact: true })
  await deploy.click()
  await expect(page.getByText('The configuration changed since you looked at it')).toBeVisible()
  const before = await world.person.client.call('deployments.get', {
    params: { teamSlug: world.teamSlug, deploymentId: id },
  })
  expect(before.status).toBe('preparing')
  await expect(async () => {
    await deploy.click()
    await page.waitForURL(/\/deploy$/, { timeout: 2_000 })
  }).toPass()
  expect((await finished(world, id)).status).toBe('successful')
})
