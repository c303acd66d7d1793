import { createDeployment, createService, deploy, idle, signUp, type TestEnvironment, unique } from '@crux/test-kit'
import type { Page } from '@playwright/test'
import { signIn } from '../kit/console.ts'
import { expect, signedOut, test } from '../kit/journey.ts'

const dialog = (page: Page) => page.getByRole('dialog')
const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/** A service that runs, and the environment of its node and prefix. */
async function makeEnvironment(testEnvironment: TestEnvironment) {
  const { client } = testEnvironment.user
  const params = { teamSlug: testEnvironment.teamSlug }
  const images = [{ name: unique('freeze/i'), tag: '1', image: idle() }]
  const service = await createService(testEnvironment, images, { name: unique('Freeze ') })
  const prefix = unique('frozen')
  const deployment = await createDeployment(testEnvironment, service, prefix)
  await deploy(testEnvironment, deployment.id)
  const { id: packageId } = await client.call('packages.create', {
    params,
    body: { name: unique('Shop '), chainIds: [] },
  })
  const environment = await client.call('packages.create-environment', {
    params: { ...params, packageId },
    body: { name: 'prod', nodeId: testEnvironment.nodeId, prefix },
  })
  return {
    environment: `/${params.teamSlug}/packages/${packageId}/environments/${environment.id}`,
    deployment: `/${params.teamSlug}/deployments/${deployment.id}`,
    path: { ...params, packageId, environmentId: environment.id },
  }
}

test('a freeze window stops deployments until an admin says why, and is edited and deleted', async ({
  page,
  testSystem,
}) => {
  const made = await makeEnvironment(testSystem.testEnvironment)
  await page.goto(made.environment)
  const section = page.getByRole('region', { name: 'Freeze windows' })
  await expect(section.getByText('No freeze windows')).toBeVisible()
  await section.getByRole('button', { name: 'Add freeze window' }).click()
  await dialog(page).getByLabel('Reason').fill('No releases during the sale')
  await dialog(page).getByRole('button', { name: 'Fri' }).click()
  await dialog(page).getByRole('button', { name: 'Create freeze window' }).click()
  await expect(dialog(page).getByText('Choose at least one day')).toBeVisible()
  for (const name of days) await dialog(page).getByRole('button', { name }).click()
  await dialog(page).getByLabel('From').fill('00:00')
  await dialog(page).getByLabel('To').fill('00:00')
  await dialog(page).getByLabel('Time zone').selectOption('Europe/Budapest')
  await dialog(page).getByRole('button', { name: 'Create freeze window' }).click()
  await expect(dialog(page)).toHaveCount(0)
  await expect(section.getByText('Every day, 00:00 to 00:00 on the next day, Europe/Budapest')).toBeVisible()
  await expect(section.getByRole('status')).toContainText('No releases during the sale')

  await page.goto(made.deployment)
  await expect(page.getByText('is frozen without an end in the next days: No releases during the sale')).toBeVisible()
  await page
    .getByRole('button', { name: /^Deploy/ })
    .first()
    .click()
  const anyway = dialog(page).getByRole('button', { name: 'Deploy anyway' })
  await expect(dialog(page)).toContainText('No releases during the sale')
  await expect(anyway).toHaveAttribute('aria-disabled', 'true')
  await dialog(page).getByLabel('Why it is deployed now').fill('The sale page leaks addresses')
  await anyway.click()
  await page.waitForURL('**/deploy*')
  await page.goto(made.deployment)
  await expect(page.getByText('Deployed during a freeze window: The sale page leaks addresses')).toBeVisible()

  await page.goto(made.environment)
  await section.getByRole('button', { name: 'Edit' }).click()
  await dialog(page).getByRole('radio', { name: 'Once' }).click()
  await dialog(page).getByLabel('Beginning').fill('2099-12-24T18:00')
  await dialog(page).getByLabel('End').fill('2099-12-24T17:00')
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await expect(dialog(page).getByText('The end has to be later than the beginning.')).toBeVisible()
  await dialog(page).getByLabel('End').fill('2100-01-02T08:00')
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await expect(section.getByText('2099-12-24 18:00 to 2100-01-02 08:00')).toBeVisible()
  await expect(section.getByText('Next on 2099-12-24 18:00')).toBeVisible()
  await section.getByRole('button', { name: 'Delete' }).click()
  await dialog(page).getByRole('button', { name: 'Delete freeze window' }).click()
  await expect(section.getByText('No freeze windows')).toBeVisible()
})

test.describe('a user of the team', () => {
  test.use({ storageState: signedOut })

  test('sees why nothing is deployed and who may, and edits no windows', async ({ page, testSystem }) => {
    const { testEnvironment, system } = testSystem
    const { client } = testEnvironment.user
    const made = await makeEnvironment(testEnvironment)
    await client.call('packages.create-freeze-window', {
      params: made.path,
      body: {
        kind: 'once',
        reason: 'Release week',
        from: '2026-01-01T00:00:00Z',
        to: '2099-12-24T18:00:00Z',
      },
    })
    const grace = await signUp(system.url, { firstName: 'Grace', lastName: 'Hopper' })
    const teamId = (await client.call('users.me')).teams.find(({ slug }) => slug === testEnvironment.teamSlug)?.id ?? ''
    const body = { email: grace.email, firstName: 'Grace', lastName: 'Hopper' }
    await client.call('teams.invite', { params: { teamId }, body })
    await grace.client.call('users.accept-invitation', { params: { teamId } })
    await signIn(page, system.url, grace)

    await page.goto(made.deployment)
    await expect(page.getByText('is frozen until 2099-12-24 18:00 UTC: Release week')).toBeVisible()
    const start = page.getByRole('button', { name: /^Deploy/ }).first()
    await expect(start).toHaveAttribute('aria-disabled', 'true')
    await page.goto(made.environment)
    const section = page.getByRole('region', { name: 'Freeze windows' })
    for (const name of ['Add freeze window', 'Edit', 'Delete'])
      await expect(section.getByRole('button', { name })).toHaveAttribute('aria-disabled', 'true')
  })
})
