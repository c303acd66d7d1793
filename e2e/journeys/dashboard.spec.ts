import { createDeployment, createService, createTeam, deploy, exits, idle, unique } from '@crux/test-kit'
import { expect, test } from '../kit/journey.ts'

test('a release that fails needs attention on the dashboard until a later one succeeds, without a reload', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const { client } = testEnvironment.user
  const params = { teamSlug: testEnvironment.teamSlug }
  const name = unique('fails/')
  const timeZone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone)
  // Other journeys deploy in this team too.
  const { days: before } = await client.call('dashboard.activity', { params, query: { timeZone } })
  const { successful = 0, failed = 0 } = before.at(-1) ?? {}
  const service = await createService(testEnvironment, [{ name, tag: '1', image: exits(3, 0, 'no configuration') }])
  const deployment = await createDeployment(testEnvironment, service, unique('fails'))
  await page.goto(`/${testEnvironment.teamSlug}/deployments`)
  const entry = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /^Deployments/ })
  await expect(page.getByRole('row', { name: deployment.prefix })).toBeVisible()
  await expect(entry).not.toContainText('failed')
  expect((await deploy(testEnvironment, deployment.id)).status).toBe('failed')
  await expect(entry).toContainText('1 failed', { timeout: 25_000 })

  await page.getByRole('link', { name: 'Dashboard' }).click()
  const list = page.getByRole('list', { name: 'Needs attention' })
  const row = list.getByRole('listitem').filter({ hasText: deployment.prefix })
  await expect(row).toContainText('Failed')
  await expect(row.getByRole('link')).toHaveAttribute('href', new RegExp(`/deployments/${deployment.id}/deploy`))
  await expect(row.getByRole('button', { name: 'Deploy again' })).toBeEnabled()
  const today = page.getByRole('list', { name: 'Deployments per day' }).getByRole('listitem').last()
  await expect(today).toContainText(`${successful} successful, ${failed + 1} failed`)
  await expect(page.getByText('Audit log entries')).toBeHidden()

  await testEnvironment.registry.push(name, '2', idle())
  const [image] = (await client.call('versions.get', { params: { ...params, ...service } })).images
  await client.call('images.update', {
    params: { ...params, ...service, imageId: image?.id ?? '' },
    body: { tag: '2' },
  })
  expect((await deploy(testEnvironment, deployment.id)).status).toBe('successful')
  await expect(row).toBeHidden({ timeout: 25_000 })
  await expect(today).toContainText(`${successful + 1} successful, ${failed + 1} failed`)
  await expect(page.getByRole('table', { name: 'Latest deployments' }).getByRole('row').nth(1)).toContainText(
    'Successful',
  )
  const activity = page.getByRole('region', { name: 'Deployments of the last 30 days' })
  await activity.getByRole('button', { name: 'Show as table' }).click()
  const days = activity.getByRole('table', { name: 'Deployments per day' }).getByRole('row')
  await expect(days).toHaveCount(31)
  await expect(days.nth(1)).toHaveText(new RegExp(`${successful + 1}\\s*${failed + 1}$`))
})

test('a team without a project sees its first steps only', async ({ page, testSystem }) => {
  const { teamSlug } = await createTeam(testSystem.testEnvironment.user)
  await page.goto(`/${teamSlug}/dashboard`)
  await expect(page.getByRole('heading', { name: 'First steps' })).toBeVisible()
  await expect(page.getByRole('heading', { level: 2 })).toHaveCount(1)
  await expect(page.getByRole('list', { name: 'Team totals' })).toBeHidden()
})

test('invited members are counted separately, on the team page and on the dashboard', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  // The dashboard of an empty team has no numbers.
  await createService(testEnvironment, [{ name: unique('counted/'), tag: '1', image: idle() }])
  await testEnvironment.user.client.call('teams.invite', {
    params: { teamId: testEnvironment.teamId },
    body: { email: `${unique('grace')}@example.com`, firstName: 'Grace', lastName: 'Hopper' },
  })
  await page.goto(`/${testEnvironment.teamSlug}/dashboard`)
  await expect(page.getByRole('link', { name: 'Members 1' })).toBeVisible()
  await expect(page.getByRole('link', { name: /^Audit log [1-9]/ })).toHaveAttribute('href', /\/audit-log$/)
  await page.getByRole('link', { name: 'Members 1' }).click()
  const numbers = page.getByRole('region', { name: 'Numbers' })
  await expect(numbers).toContainText(/Members\s*1\s*Invited\s*1/)
  await expect(page.getByRole('button', { name: 'Switch to this team' })).toBeHidden()
  // The breadcrumb begins with the name of the team and not with its slug.
  const crumbs = page.getByRole('navigation', { name: 'Breadcrumb' })
  await expect(crumbs.getByRole('link').first()).toHaveText(`Team ${testEnvironment.teamSlug}`)
})
