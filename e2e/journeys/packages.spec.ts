import { createService, finished, idle, signUp, type TestEnvironment, unique } from '@crux/test-kit'
import type { Page } from '@playwright/test'
import { signIn } from '../kit/console.ts'
import { expect, signedOut, test } from '../kit/journey.ts'

const dialog = (page: Page) => page.getByRole('dialog')
const board = (page: Page) => page.getByRole('table', { name: 'What runs where' })
const row = (page: Page, project: string) => board(page).getByRole('row', { name: project })
/** The cell of an environment: the project's name comes first. */
const cell = (page: Page, project: string, column: number) => row(page, project).getByRole('cell').nth(column)

/** A versioned project with 1.0.0, and with 1.1.0 whose image has another tag. */
async function createVersioned(testEnvironment: TestEnvironment, name: string) {
  const image = unique('pack/i-')
  const service = await createService(
    testEnvironment,
    [
      {
        name: image,
        tag: '1.0.0',
        image: idle(),
        config: { name: unique('web'), environment: [{ key: 'STAGE', value: '1' }] },
      },
    ],
    { name, versioned: '1.0.0' },
  )
  await testEnvironment.registry.push(image, '1.1.0', idle('faster'))
  return { ...service, increase: () => increase(testEnvironment, service) }
}

async function increase(testEnvironment: TestEnvironment, service: { projectId: string; versionId: string }) {
  const { client } = testEnvironment.user
  const inProject = { teamSlug: testEnvironment.teamSlug, projectId: service.projectId }
  const next = await client.call('versions.increase', {
    params: { ...inProject, versionId: service.versionId },
    body: { name: '1.1.0' },
  })
  const { images } = await client.call('versions.get', { params: { ...inProject, versionId: next.id } })
  await client.call('images.update', {
    params: { ...inProject, versionId: next.id, imageId: images[0]?.id ?? '' },
    body: { tag: '1.1.0' },
  })
  return next.id
}

async function createEnvironment(page: Page, node: string, name: string, prefix: string) {
  await page.getByRole('button', { name: 'New environment' }).click()
  await dialog(page).getByLabel('Name', { exact: true }).fill(name)
  // The only node of a team is chosen already.
  await dialog(page).getByRole('radio').filter({ hasText: node }).click()
  await dialog(page).getByLabel('Prefix').fill(prefix)
  await dialog(page).getByRole('button', { name: 'Create environment' }).click()
  await expect(dialog(page)).toBeHidden()
  await expect(board(page).getByRole('columnheader', { name })).toBeVisible()
}

test('two projects go from dev to prod with their changes shown; a freeze refuses, and an admin says why it is done all the same', async ({
  page,
  browser,
  baseURL,
  testSystem,
}) => {
  test.setTimeout(240_000)
  const { testEnvironment } = testSystem
  const { client } = testEnvironment.user
  const { teamSlug, nodeId } = testEnvironment
  const node = await client.call('nodes.get', { params: { teamSlug, nodeId } })
  const [shop, mail] = [unique('Shop '), unique('Mail ')]
  const first = await createVersioned(testEnvironment, shop)
  const second = await createVersioned(testEnvironment, mail)
  // Increasing the other one copies its deployments.
  await client.call('versions.update', {
    params: { teamSlug, projectId: second.projectId, versionId: second.versionId },
    body: { name: '1.0.0', autoCopyDeployments: false },
  })
  const [dev, prod] = [unique('dev'), unique('prod')]
  const name = unique('Web shop ')

  // The package, with both projects.
  await page.goto(`/${teamSlug}/packages#new`)
  await dialog(page).getByLabel('Name', { exact: true }).fill(name)
  for (const project of [shop, mail]) {
    await dialog(page).getByLabel('Add from project').selectOption(project)
    await dialog(page).getByRole('checkbox', { name: '1.0.0' }).click()
    await expect(dialog(page).getByRole('button', { name: `Remove ${project}` })).toBeVisible()
  }
  await dialog(page)
    .getByRole('button', { name: `Move ${mail} up` })
    .click()
  await dialog(page).getByRole('button', { name: 'Create package' }).click()
  await page.waitForURL(/\/packages\/[0-9a-f-]{36}$/)
  const packageId = page.url().split('/').at(-1) ?? ''

  // Its environments, on the node of this machine; prod is moved behind dev with the keyboard.
  await expect(page.getByText('No environments yet')).toBeVisible()
  await createEnvironment(page, node.name, 'prod', prod)
  await createEnvironment(page, node.name, 'dev', dev)
  await expect(board(page).getByRole('columnheader')).toContainText(['Project', 'prod', 'dev'])
  await expect(board(page).getByRole('rowheader')).toContainText([mail, shop])
  await page.getByRole('button', { name: 'Actions of prod' }).focus()
  await page.keyboard.press('ArrowDown')
  await page.getByRole('menuitem', { name: 'Move right' }).press('Enter')
  await expect(board(page).getByRole('columnheader')).toContainText(['Project', 'dev', 'prod'])

  // 1.0.0 in both environments, and 1.1.0 in dev.
  for (const project of [shop, mail]) {
    for (const column of ['dev', 'prod']) {
      await page.getByRole('button', { name: `Deploy ${project} to ${column}`, exact: true }).click()
      await dialog(page)
        .getByRole('button', { name: /^(Deploy|Promote) 1\.0\.0 to / })
        .click()
      await expect(dialog(page)).toBeHidden()
    }
    for (const column of [0, 1]) await expect(cell(page, project, column)).toContainText('Running', { timeout: 60_000 })
  }
  await first.increase()
  await second.increase()
  // While nothing is in progress, the board is refetched every 15 s, which is how long a click waits for its button.
  const deploy = page.getByRole('button', { name: `Deploy 1.1.0 of ${shop} to dev` })
  await expect(deploy).toBeVisible({ timeout: 30_000 })
  await deploy.click()
  await expect(dialog(page).getByText('1.1.0 has a deployment here already')).toBeVisible()
  await dialog(page).getByRole('button', { name: 'Deploy 1.1.0 to dev' }).click()
  await expect(cell(page, shop, 0)).toContainText(/1\.1\.0\s*Running/, { timeout: 60_000 })

  // From dev to prod, with the changes seen.
  await expect(cell(page, shop, 1)).toContainText('1.1.0 runs in dev')
  await page.getByRole('button', { name: `Promote 1.1.0 of ${shop} to prod` }).click()
  await expect(dialog(page).getByRole('radio', { name: /1\.1\.0.*runs in dev/ })).toBeChecked()
  await expect(dialog(page).getByRole('radio', { name: /1\.0\.0.*runs here/ })).toBeDisabled()
  await expect(dialog(page).getByText('- tag 1.0.0')).toBeVisible()
  await expect(dialog(page).getByText('+ tag 1.1.0')).toBeVisible()
  await dialog(page).getByLabel('Note').fill('Express checkout')
  await dialog(page).getByRole('button', { name: 'Promote 1.1.0 to prod' }).click()
  await expect(dialog(page)).toBeHidden()
  await expect(cell(page, shop, 1)).toContainText(/1\.1\.0\s*Running/, { timeout: 60_000 })
  await expect(cell(page, shop, 1)).not.toContainText('runs in dev')

  // A freeze: a user is refused, an admin has to say why.
  const { environments } = await client.call('packages.get', { params: { teamSlug, packageId } })
  const environmentId = environments.find((one) => one.name === 'prod')?.id ?? ''
  const params = { teamSlug, packageId, environmentId }
  await client.call('packages.create-freeze-window', {
    params,
    body: {
      kind: 'once',
      reason: 'Nothing is released during the sale',
      from: new Date(Date.now() - 60_000).toISOString(),
      to: new Date(Date.now() + 3_600_000).toISOString(),
    },
  })
  await page.getByRole('button', { name: `Deploy 1.1.0 of ${mail} to dev` }).click()
  await expect(dialog(page).getByText('Takes the configuration of 1.0.0')).toBeVisible()
  await dialog(page).getByRole('button', { name: 'Deploy 1.1.0 to dev' }).click()
  await expect(cell(page, mail, 1)).toContainText('1.1.0 runs in dev', { timeout: 60_000 })

  const grace = await signUp(testSystem.system.url, { firstName: 'Grace', lastName: 'Hopper' })
  await client.call('teams.invite', {
    params: { teamId: testEnvironment.teamId },
    body: { email: grace.email, firstName: 'Grace', lastName: 'Hopper' },
  })
  await grace.client.call('users.accept-invitation', { params: { teamId: testEnvironment.teamId } })
  const graces = await browser.newContext({ storageState: signedOut, baseURL })
  const hers = await graces.newPage()
  await signIn(hers, testSystem.system.url, grace)
  await hers.goto(`/${teamSlug}/packages/${packageId}`)
  await hers.getByRole('button', { name: `Promote 1.1.0 of ${mail} to prod` }).click()
  await expect(dialog(hers).getByText('Nothing is released during the sale')).toBeVisible()
  await expect(dialog(hers).getByText('Only an admin of the team can deploy now')).toBeVisible()
  await expect(dialog(hers).getByRole('button', { name: 'Promote 1.1.0 to prod' })).toHaveAttribute(
    'aria-disabled',
    'true',
  )
  await graces.close()

  await page.reload()
  await expect(board(page).getByRole('columnheader', { name: 'prod' })).toContainText('Frozen until')
  await page.getByRole('button', { name: `Promote 1.1.0 of ${mail} to prod` }).click()
  const promote = dialog(page).getByRole('button', { name: 'Promote 1.1.0 to prod' })
  await expect(dialog(page).getByText('+ tag 1.1.0')).toBeVisible()
  await expect(promote).toHaveAttribute('aria-disabled', 'true')
  await dialog(page).getByLabel('Why it is deployed now').fill('Mails are lost otherwise')
  await promote.click()
  await expect(dialog(page)).toBeHidden()
  await expect(cell(page, mail, 1)).toContainText(/1\.1\.0\s*Running/, { timeout: 60_000 })

  // The history of prod has all of it, the newest first.
  await board(page).getByRole('link', { name: 'prod', exact: true }).click()
  const history = page.getByRole('table', { name: 'Promotions' })
  await expect(history.getByRole('row')).toHaveCount(5)
  const newest = history.getByRole('row').nth(1)
  await expect(newest).toContainText(`${mail} 1.1.0`)
  await expect(newest).toContainText('Successful')
  await expect(newest.getByRole('cell').nth(2)).toHaveText('dev')
  await expect(newest).toContainText('during a freeze: Mails are lost otherwise')
  await expect(history.getByRole('row').nth(2)).toContainText('Express checkout')
  await expect(page.getByRole('region', { name: 'Freeze windows' })).toContainText(
    'Nothing is released during the sale',
  )
  await newest.getByRole('link', { name: `${mail} 1.1.0` }).click()
  await page.waitForURL(/\/deployments\/[0-9a-f-]+\/deploy\?try=1$/)
  await grace.client.call('teams.leave', { params: { teamId: testEnvironment.teamId } })
})

test('a version is prepared without a start, and a second time the deployment that is there is opened', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const { client } = testEnvironment.user
  const { teamSlug, nodeId } = testEnvironment
  const project = unique('Prepared ')
  const service = await createVersioned(testEnvironment, project)
  const created = await client.call('packages.create', {
    params: { teamSlug },
    body: { name: unique('Prepare '), chainIds: [service.versionId] },
  })
  const params = { teamSlug, packageId: created.id }
  const environment = await client.call('packages.create-environment', {
    params,
    body: { name: 'dev', nodeId, prefix: unique('prep') },
  })
  await page.goto(`/${teamSlug}/packages/${created.id}`)
  await page.getByRole('button', { name: `Deploy ${project} to dev` }).click()
  await expect(dialog(page).getByRole('button', { name: 'Prepare only' })).toBeVisible()
  // Somebody else prepares the same version meanwhile.
  const { id } = await client.call('packages.create-deployment', {
    params: { ...params, environmentId: environment.id },
    body: { versionId: service.versionId },
  })
  await dialog(page).getByRole('button', { name: 'Prepare only' }).click()
  await page.waitForURL(`**/deployments/${id}`)
  await expect(page.getByText('1.0.0 has a deployment here already')).toBeVisible()
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await page.waitForURL(/\/deploy$/)
  expect((await finished(testEnvironment, id)).status).toBe('successful')
  await page.goto(`/${teamSlug}/packages/${created.id}`)
  await expect(cell(page, project, 0)).toContainText('Running')
  await page.getByRole('button', { name: `Deploy ${project} to dev` }).click()
  await expect(dialog(page).getByText('No version is left')).toBeVisible()
})

test('an environment is edited and deleted, and a package keeps what it deployed', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  const { client } = testEnvironment.user
  const { teamSlug, nodeId } = testEnvironment
  const created = await client.call('packages.create', {
    params: { teamSlug },
    body: { name: unique('Short '), chainIds: [(await createVersioned(testEnvironment, unique('Once '))).versionId] },
  })
  await client.call('packages.create-environment', {
    params: { teamSlug, packageId: created.id },
    body: { name: 'dev', nodeId, prefix: unique('short') },
  })
  await page.goto(`/${teamSlug}/packages/${created.id}`)
  await page.getByRole('button', { name: 'Actions of dev' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await dialog(page).getByLabel('Name', { exact: true }).fill('test')
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await board(page).getByRole('link', { name: 'test', exact: true }).click()
  await expect(page.getByRole('heading', { name: 'test', level: 1 })).toBeVisible()
  await expect(page.getByText('No promotions yet')).toBeVisible()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await dialog(page).getByRole('textbox').fill('test')
  await dialog(page).getByRole('button', { name: 'Delete environment' }).click()
  await page.waitForURL(`**/packages/${created.id}`)
  await expect(page.getByText('No environments yet')).toBeVisible()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await dialog(page).getByRole('button', { name: 'Delete package' }).click()
  await page.waitForURL(/\/packages$/)
  await expect(page.getByRole('heading', { name: 'Packages', level: 1 })).toBeVisible()
  await expect(page.getByRole('link', { name: created.name })).toHaveCount(0)
})
