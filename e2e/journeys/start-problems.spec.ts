import { freePort, unique } from '@crux/test-kit'
import type { Page } from '@playwright/test'
import { expect, test } from '../kit/journey.ts'
import { prepareStartProblems, type StartProblems } from '../kit/start-problems.ts'

let problems: StartProblems
test.beforeAll(async ({ testSystem }) => {
  problems = await prepareStartProblems(testSystem.testEnvironment)
})
test.afterAll(() => problems.end())

const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const summary = (page: Page) => section(page, 'Before you deploy')
const inList = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name, exact: true })
const externalPort = (page: Page, place: number) =>
  section(page, 'Ports').getByLabel('On the node', { exact: true }).nth(place)

test('a problem that prevents a start is shown in the field, in the list and in the summary, and disappears when it is fixed', async ({
  page,
  testSystem,
}) => {
  const path = (configId: string) => `/${testSystem.testEnvironment.teamSlug}/container-configurations/${configId}`
  const { holder, nodeName, foreign, configIds } = problems
  const ports = section(page, 'Ports')
  await page.goto(path(configIds.shop))

  await test.step('ports of another deployment, of the gate and of something that Crux did not start', async () => {
    await expect(summary(page).getByRole('heading', { name: 'Fix 6 problems to deploy' })).toBeVisible()
    await expect(inList(page, 'Ports')).toHaveAccessibleDescription('has 3 problems')
    for (const [place, text] of [
      `Port ${holder.ports.published} is used by ${holder.container} of ${holder.project} on ${nodeName}. Choose another port, or stop ${holder.container} first.`,
      `Port ${holder.ports.gated} is used by ${holder.gated} of ${holder.project} on ${nodeName}. Choose another port, or stop ${holder.gated} first.`,
      `Port ${foreign.port} is used by something else on ${nodeName}. Choose another port.`,
    ].entries()) {
      await expect(externalPort(page, place)).toHaveAttribute('aria-invalid', 'true')
      await expect(ports.getByText(text)).toBeVisible()
      await expect(summary(page).getByText(text)).toBeVisible()
    }
    for (const place of [0, 1, 2]) {
      await externalPort(page, place).fill(String(await freePort()))
      await externalPort(page, place).blur()
      await expect(externalPort(page, place)).not.toHaveAttribute('aria-invalid')
    }
    await expect(inList(page, 'Ports')).toHaveAccessibleDescription('3 values')
    await expect(summary(page).getByRole('heading', { name: 'Fix 3 problems to deploy' })).toBeVisible()
  })

  await test.step('a host name that is routed elsewhere on the node', async () => {
    const domain = section(page, 'Routing').getByLabel('Host name', { exact: true })
    await expect(inList(page, 'Routing')).toHaveAccessibleDescription('has a problem')
    await expect(section(page, 'Routing').getByText(`is in use on this node by ${holder.container}`)).toBeVisible()
    await domain.fill(`${unique('free')}.example.com`)
    await domain.blur()
    await expect(domain).not.toHaveAttribute('aria-invalid')
    await expect(summary(page).getByText(holder.host)).toBeHidden()
  })

  await test.step('a required secret without a value, found from the summary', async () => {
    await expect(inList(page, 'Secrets')).toHaveAccessibleDescription('has a problem')
    await expect(section(page, 'Secrets').getByText('Required, not set')).toBeVisible()
    await summary(page)
      .getByRole('listitem')
      .filter({ hasText: 'DATABASE_PASSWORD' })
      .getByRole('link', { name: 'Open the field' })
      .click()
    const value = section(page, 'Secrets').getByLabel('Secret value of DATABASE_PASSWORD')
    await expect(value).toBeFocused()
    await value.fill('s3cret')
    // The header does not show "Saved" while a typed secret is not saved.
    await expect(page.locator('[data-save]')).toHaveText('Secrets not saved')
    await section(page, 'Secrets').getByRole('button', { name: 'Encrypt and save' }).click()
    await expect(page.locator('[data-save]')).toHaveText('Saved')
    await expect(summary(page).getByText('DATABASE_PASSWORD')).toBeHidden()
    await expect(summary(page).getByRole('heading', { name: 'Fix 1 problem to deploy' })).toBeVisible()
  })

  await test.step('a name that another container of the deployment has, from the page of the deployment', async () => {
    await page.getByRole('button', { name: 'Review and deploy' }).click()
    await expect(page.getByRole('button', { name: 'Deploy', exact: true })).toBeDisabled()
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Two containers would be called' })
      .getByRole('link', { name: 'Open the field' })
      .click()
    await page.waitForURL(`**/${configIds.worker}**`)
    const name = section(page, 'Name and command').getByLabel('Container name', { exact: true })
    await expect(name).toBeFocused()
    await expect(name).toHaveAttribute('aria-invalid', 'true')
    await name.fill('worker')
    await name.blur()
    await expect(summary(page).getByRole('heading', { name: /problem/ })).toBeHidden()
    await page.getByRole('button', { name: 'Review and deploy' }).click()
    await expect(page.getByRole('button', { name: 'Deploy', exact: true })).toBeEnabled()
  })
})

test('a container of another project with the same name as a new container is listed before the start', async ({
  page,
  testSystem,
}) => {
  const { client } = testSystem.testEnvironment.user
  const inTeam = { teamSlug: testSystem.testEnvironment.teamSlug }
  const held = await client.call('deployments.get', { params: { ...inTeam, deploymentId: problems.deploymentId } })
  const prefix = problems.holder.container.replace(/-web$/, '')
  await client.call('deployments.update', {
    params: { ...inTeam, deploymentId: held.id },
    body: { prefix, protected: false, note: '', configBundles: [] },
  })
  const name = section(page, 'Name and command').getByLabel('Container name', { exact: true })
  await page.goto(`/${inTeam.teamSlug}/container-configurations/${problems.configIds.worker}`)
  await name.fill('web')
  await name.blur()
  await expect(
    section(page, 'Name and command').getByText(
      `${problems.holder.project} has a container ${prefix}-web on ${problems.nodeName}. Name this one differently, or choose another prefix.`,
    ),
  ).toBeVisible()
  await name.fill('other')
  await name.blur()
  await expect(name).not.toHaveAttribute('aria-invalid')
})
