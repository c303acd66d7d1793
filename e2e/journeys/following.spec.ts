import { createDeployment, createService, deploy, idle, type TestEnvironment, unique } from '@crux/test-kit'
import { expect, test } from '../kit/journey.ts'

/** Sends what the registry sends after a push. */
async function createHook(testEnvironment: TestEnvironment, baseUrl: string) {
  const { user, teamSlug, registryId } = testEnvironment
  const { token } = await user.client.call('registries.create-token', {
    params: { teamSlug, registryId },
    body: { expirationInDays: 1 },
  })
  return async (repository: string) => {
    const { status } = await fetch(`${baseUrl}/api/${teamSlug}/registries/${registryId}/hooks/v2`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ events: [{ id: 'e', action: 'push', target: { repository, tag: '1.0' } }] }),
    })
    expect(status).toBe(204)
  }
}

test('a push is shown on the page of a deployment that follows the tag, and deployed once it may be', async ({
  page,
  testSystem: { testEnvironment, system },
}) => {
  const { registry, teamSlug, user } = testEnvironment
  const image = unique('app-')
  const service = await createService(testEnvironment, [
    { name: image, tag: '1.0', image: idle('first'), config: { name: 'app' } },
  ])
  const { id } = await createDeployment(testEnvironment, service, unique('f'))
  await deploy(testEnvironment, id)
  const pushed = await createHook(testEnvironment, system.url)

  await page.goto(`/${teamSlug}/deployments/${id}`)
  const tags = page.getByRole('list', { name: 'Following tags' })
  await tags.getByRole('radio', { name: 'Notify' }).click()
  await expect(tags.getByText('Switched on by')).toBeVisible()
  await expect(tags.getByText(/Checked .+ ago|Checked just now/)).toBeVisible()
  await expect(tags.getByText('A newer image is available')).toBeHidden()

  const second = await registry.push(image, '1.0', idle('second'))
  await pushed(image)
  await expect(tags.getByText('A newer image is available')).toBeVisible()
  await expect(tags.getByText(second.slice(0, 19))).toBeVisible()
  await expect(tags.getByRole('button', { name: 'Deploy app' })).toBeEnabled()

  await tags.getByRole('radio', { name: 'Deploy', exact: true }).click()
  await expect(tags.getByText('Deploys as')).toBeVisible()
  const releases = page.getByRole('list', { name: 'Releases' })
  await expect(releases.getByText('By a tag that')).toBeVisible()
  await expect(releases.getByText(`New digest of ${registry.host}/${image}:1.0`)).toBeVisible()
  await expect(releases.getByRole('listitem').first().getByText('Successful')).toBeVisible()
  await expect(tags.getByText('A newer image is available')).toBeHidden()
  const [newest] = await user.client.call('deployments.releases', { params: { teamSlug, deploymentId: id } })
  expect(newest).toMatchObject({ number: 2, trigger: 'follow', current: true, instances: [{ digest: second }] })
})
