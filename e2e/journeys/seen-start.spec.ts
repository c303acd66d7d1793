import { createDeployment, createService, deploy, exits, finished, idle, setTag, unique } from '@crux/test-kit'
import { expect, test } from '../kit/journey.ts'

test('a start is refused when the configuration changed after the page showed it, and the page shows the new changes', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const prefix = unique('seen')
  const service = await createService(testEnvironment, [
    {
      name: unique('seen/i'),
      tag: '1',
      image: idle(),
      config: { name: 'web', environment: [{ key: 'A', value: '1' }] },
    },
  ])
  const { id } = await createDeployment(testEnvironment, service, prefix)
  // The browser does not receive the edit, as on a slow network.
  await page.routeWebSocket(/.*/, () => undefined)
  await page.goto(`/${testEnvironment.teamSlug}/deployments/${id}`)
  await expect(page.getByText('Create', { exact: false }).first()).toBeVisible()
  const { instances } = await testEnvironment.user.client.call('deployments.get', {
    params: { teamSlug: testEnvironment.teamSlug, deploymentId: id },
  })
  await testEnvironment.user.client.call('container-configurations.update', {
    params: { teamSlug: testEnvironment.teamSlug, configId: instances[0]?.config.id ?? '' },
    body: { config: { environment: [{ key: 'A', value: '2' }] } },
  })
  const deploy = page.getByRole('button', { name: 'Deploy', exact: true })
  await deploy.click()
  await expect(page.getByText('The configuration has changed since your preview')).toBeVisible()
  const before = await testEnvironment.user.client.call('deployments.get', {
    params: { teamSlug: testEnvironment.teamSlug, deploymentId: id },
  })
  expect(before.status).toBe('preparing')
  await expect(async () => {
    await deploy.click()
    await page.waitForURL(/\/deploy$/, { timeout: 2_000 })
  }).toPass()
  expect((await finished(testEnvironment, id)).status).toBe('successful')
})

test('a restart after a failure shows what it would confirm, and refuses changes since then', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const { client } = testEnvironment.user
  const name = unique('again/i-')
  const service = await createService(testEnvironment, [{ name, tag: '1', image: exits(3), config: { name: 'web' } }])
  const { id } = await createDeployment(testEnvironment, service, unique('again'))
  expect((await deploy(testEnvironment, id)).status).toBe('failed')
  await testEnvironment.registry.push(name, '2', idle())
  await setTag(testEnvironment, service, 0, '2')
  const params = { teamSlug: testEnvironment.teamSlug, deploymentId: id }
  const details = await client.call('deployments.get', { params })
  const configure = (config: object) =>
    client.call('container-configurations.update', {
      params: { teamSlug: testEnvironment.teamSlug, configId: details.instances[0]?.config.id ?? '' },
      body: { config },
    })
  const again = page.getByRole('button', { name: 'Deploy again' })

  await test.step('somebody gave it the network of the node meanwhile', async () => {
    await page.goto(`/${testEnvironment.teamSlug}/deployments/${id}/deploy`)
    await expect(again).toBeEnabled()
    await configure({ networkMode: 'host' })
    await again.click()
    const question = page.getByRole('dialog', { name: `reaches ${details.node.name} itself` })
    await expect(question).toContainText('web can reach the node, and no admin has confirmed this.')
    await question.getByRole('button', { name: 'Open the deployment' }).click()
    await expect(page.getByRole('region', { name: 'Access to the node' }).getByText('networkMode host')).toBeVisible()
    expect((await client.call('deployments.get', { params })).lastTry).toBe(1)
  })

  await test.step('the list asks the same', async () => {
    await page.goto(`/${testEnvironment.teamSlug}/deployments`)
    await page.getByRole('row', { name: details.prefix }).getByRole('button', { name: 'Deploy again' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await expect(page.getByRole('dialog')).toHaveCount(0)
    expect((await client.call('deployments.get', { params })).lastTry).toBe(1)
  })

  await test.step('a change between the question and the start', async () => {
    await configure({ networkMode: 'bridge' })
    await page.goto(`/${testEnvironment.teamSlug}/deployments/${id}/deploy`)
    await page.route(/\/deployments\/[^/]+\/preview/, async (route) => {
      const answer = await route.fetch()
      await configure({ networkMode: 'host' })
      await route.fulfill({ response: answer })
    })
    await again.click()
    await expect(page.getByText('The configuration has changed since your preview')).toBeVisible()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    expect((await client.call('deployments.get', { params })).lastTry).toBe(1)
  })

  await test.step('nothing to confirm: it starts at once', async () => {
    await configure({ networkMode: 'bridge' })
    await again.click()
    await expect(page.getByRole('status', { name: 'Result' })).toContainText('1 image deployed', { timeout: 60_000 })
  })
})
