import { once } from 'node:events'
import { connect } from 'node:net'
import { createDeployment, createService, deploy, freePort, setTag, unique, web } from '@crux/test-kit'
import { expect, test } from '../kit/journey.ts'
import { answers } from '../kit/service.ts'

test('a release is successful while connections to the previous container are open, and its page shows the clean-up', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const name = unique('cleanup/web')
  for (const tag of ['1', '2']) await testEnvironment.registry.push(name, tag, web(tag))
  const port = await freePort()
  const config = {
    name: 'web',
    ports: [{ internal: 8080, external: port }],
    portGate: { enabled: true, drainSeconds: 600 },
  }
  const service = await createService(testEnvironment, [{ name, tag: '1', config }])
  const deployment = await createDeployment(testEnvironment, service, unique('cleanup'))
  expect(await deploy(testEnvironment, deployment.id)).toMatchObject({ status: 'successful' })
  const client = connect(port, '127.0.0.1')
  client.on('error', () => undefined)
  await once(client, 'connect')
  await setTag(testEnvironment, service, 0, '2')

  await page.goto(`/${testEnvironment.teamSlug}/deployments/${deployment.id}`)
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await expect(page.getByRole('status', { name: 'Result' })).toContainText('1 image deployed', { timeout: 60_000 })
  await answers(port, '2')
  await expect(page.getByRole('link', { name: `Open :${port}` })).toHaveCount(1)
  const steps = page.getByRole('list', { name: 'Steps of web' })
  const cleanUp = steps.getByRole('listitem').filter({ hasText: 'Clean up' })
  await expect(cleanUp).toContainText('Running')
  await expect(page.getByText('waits at most 600 s for 1 open connection')).toBeVisible()
  await expect(page.getByRole('progressbar', { name: 'Progress' })).toHaveAttribute('aria-valuenow', '100')

  await test.step('the list of containers says what becomes of the previous one', async () => {
    await page.getByRole('link', { name: /^Containers on / }).click()
    await page
      .getByRole('row', { name: /-web\.old-/ })
      .getByText('Running')
      .hover()
    await expect(page.getByText('replaced, and removed when its connections have ended').first()).toBeVisible()
    await page.goBack()
  })

  client.destroy()
  await expect(cleanUp).toContainText('Done', { timeout: 30_000 })
})
