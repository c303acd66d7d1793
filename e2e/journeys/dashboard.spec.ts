import { createDeployment, createService, deploy, exits, unique } from '@crux/test-kit'
import { expect, test } from '../kit/journey.ts'

test('a release that fails is counted beside Deployments at once and is listed first on the dashboard', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const service = await createService(testEnvironment, [
    { name: unique('fails/'), tag: '1', image: exits(3, 0, 'no configuration') },
  ])
  const deployment = await createDeployment(testEnvironment, service, unique('fails'))
  await page.goto(`/${testEnvironment.teamSlug}/deployments`)
  const entry = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Deployments/ })
  await expect(page.getByRole('row', { name: deployment.prefix })).toBeVisible()
  await expect(entry).not.toContainText('failed')
  expect((await deploy(testEnvironment, deployment.id)).status).toBe('failed')
  await expect(entry).toContainText('1 failed', { timeout: 25_000 })

  await page.getByRole('link', { name: 'Dashboard' }).click()
  const first = page.getByRole('main').getByRole('table').first()
  await expect(first).toHaveAccessibleName('Failed and in progress')
  await expect(first.getByRole('row', { name: deployment.prefix })).toContainText('Failed')
  await expect(page.getByText('Audit log entries')).toBeHidden()
})

test('invited members are counted separately, on the team page and on the dashboard', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  await testEnvironment.user.client.call('teams.invite', {
    params: { teamId: testEnvironment.teamId },
    body: { email: `${unique('grace')}@example.com`, firstName: 'Grace', lastName: 'Hopper' },
  })
  await page.goto(`/${testEnvironment.teamSlug}/dashboard`)
  await expect(page.getByRole('link', { name: 'Members 1' })).toBeVisible()
  await page.getByRole('link', { name: 'Members 1' }).click()
  const numbers = page.getByRole('region', { name: 'Numbers' })
  await expect(numbers).toContainText(/Members\s*1\s*Invited\s*1/)
  await expect(page.getByRole('button', { name: 'Switch to this team' })).toBeHidden()
  // The breadcrumb begins with the name of the team and not with its slug.
  const crumbs = page.getByRole('navigation', { name: 'Breadcrumb' })
  await expect(crumbs.getByRole('link').first()).toHaveText(`Team ${testEnvironment.teamSlug}`)
})
