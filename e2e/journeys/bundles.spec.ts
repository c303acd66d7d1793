import {
  createDeployment,
  createService,
  idle,
  startStorage,
  storageAccount,
  type TestStorage,
  unique,
} from '@crux/test-kit'
import type { Page } from '@playwright/test'
import { expect, test } from '../kit/journey.ts'
import { needsStorage } from '../kit/storage.ts'

const carried = (page: Page) => page.getByRole('list', { name: 'Config bundles' })
const result = (page: Page) => page.getByRole('status', { name: 'Result' })
const deploy = (page: Page) => page.getByRole('button', { name: 'Deploy', exact: true })

test('bundles with different values refuse the start by name until the deployment decides', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const [eu, us] = [unique('Region EU '), unique('Region US ')]
  const service = await createService(testEnvironment, [{ name: unique('bundle/i'), tag: '1', image: idle() }])
  const deployment = await createDeployment(testEnvironment, service, unique('bundle'))
  const path = `/${testEnvironment.teamSlug}/deployments/${deployment.id}`

  // One bundle is created in the browser, the other by the API.
  await page.goto(`/${testEnvironment.teamSlug}/config-bundles`)
  await page.getByRole('button', { name: 'New config bundle' }).first().click()
  const form = page.getByRole('dialog', { name: 'New config bundle' })
  await form.getByLabel('Name', { exact: true }).fill(eu)
  await form.getByRole('button', { name: 'Create config bundle' }).click()
  await page.waitForURL(/\/container-configurations\//)
  await page.getByRole('main').getByRole('button', { name: 'Environment' }).last().click()
  await setVariable(page, 'REGION', 'eu-west-1')
  await makeBundle(us, 'us-east-1')

  await page.goto(path)
  const other = await page.context().newPage()
  await other.goto(path)
  await expect(other.getByText('No config bundle attached.')).toBeVisible()
  await page.getByLabel('Attach a config bundle').selectOption({ label: eu })
  await expect(carried(other).getByRole('listitem')).toHaveText([new RegExp(eu)])
  await page.getByLabel('Attach a config bundle').selectOption({ label: us })
  await expect(carried(other).getByRole('listitem')).toHaveText([new RegExp(eu), new RegExp(us)])
  await page.getByRole('button', { name: `Move ${us} up` }).click()
  await expect(carried(other).getByRole('listitem')).toHaveText([new RegExp(us), new RegExp(eu)])
  await other.close()

  const settle = page.getByRole('list', { name: 'Problems to fix' })
  await expect(settle).toContainText('REGION')
  await expect(settle).toContainText(eu)
  await expect(settle).toContainText(us)
  await expect(deploy(page)).toHaveAttribute('aria-disabled', 'true')
  const start = testEnvironment.user.client.call('deployments.start', {
    params: { teamSlug: testEnvironment.teamSlug, deploymentId: deployment.id },
  })
  await expect(start).rejects.toMatchObject({ status: 412, property: 'configBundles' })

  await settle.getByRole('link', { name: 'Open the field' }).click()
  await page.waitForURL(/\/container-configurations\/.*#environment/)
  await setVariable(page, 'REGION', 'ap-south-1')
  await page.goto(path)
  await expect(page.getByRole('list', { name: 'Problems to fix' })).toBeHidden()
  await deploy(page).click()
  await page.waitForURL(/\/deploy$/)
  await expect(result(page)).toContainText('1 image deployed', { timeout: 60_000 })

  // An attached bundle cannot be deleted; a detached one can.
  await page.goto(`/${testEnvironment.teamSlug}/config-bundles`)
  await page.getByRole('link', { name: us }).click()
  await expect(page.getByRole('button', { name: 'Delete', exact: true })).toHaveAttribute('aria-disabled', 'true')
  await expect(page.getByRole('table', { name: 'Deployments with this config bundle' })).toContainText(
    deployment.prefix,
  )
  await page.goto(path)
  await page.getByRole('button', { name: `Detach ${us}` }).click()
  await expect(carried(page).getByRole('listitem')).toHaveText([new RegExp(eu)])
  await page.goto(`/${testEnvironment.teamSlug}/config-bundles`)
  await page.getByRole('link', { name: us }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete config bundle' }).click()
  await expect(page.getByText(`${us} deleted`)).toBeVisible()

  async function makeBundle(name: string, region: string) {
    const { client } = testEnvironment.user
    const bundle = await client.call('config-bundles.create', {
      params: { teamSlug: testEnvironment.teamSlug },
      body: { name },
    })
    const environment = [{ id: crypto.randomUUID(), key: 'REGION', value: region }]
    await client.call('container-configurations.update', {
      params: { teamSlug: testEnvironment.teamSlug, configId: bundle.configId },
      body: { config: { environment } },
    })
  }
})

/** Sets a variable in the open configuration; returns after it is saved. */
async function setVariable(page: Page, key: string, value: string): Promise<void> {
  const section = page.getByRole('region', { name: 'Environment', exact: true })
  await section.getByRole('button', { name: 'Add', exact: true }).click()
  await page.keyboard.type(key)
  await page.keyboard.press('Tab')
  await page.keyboard.type(value)
  await expect(page.locator('[data-save=saved]')).toBeVisible()
}

test.describe('a storage', () => {
  let storage: TestStorage
  needsStorage()
  test.beforeAll(async () => {
    test.setTimeout(180_000)
    storage = await startStorage()
    await storage.createBucket('assets')
  })
  test.afterAll(() => storage?.dispose())

  test('shows its buckets or why it does not answer, and never shows its keys', async ({ page, testSystem }) => {
    const name = unique('Files ')
    await page.goto(`/${testSystem.testEnvironment.teamSlug}/storages`)
    await page.getByRole('button', { name: 'New storage' }).first().click()
    const form = page.getByRole('dialog', { name: 'New storage' })
    await form.getByLabel('Name', { exact: true }).fill(name)
    await form.getByLabel('Address').fill(storage.url)
    await form.getByRole('button', { name: 'Create storage' }).click()
    await expect(form.getByText('needs a secret key')).toBeVisible()
    await form.getByLabel('Access key').fill(storageAccount.accessKey)
    await form.getByLabel('Secret key', { exact: true }).fill('not the key')
    await form.getByRole('button', { name: 'Create storage' }).click()
    await page.waitForURL(/\/storages\//)
    const check = page.getByRole('status', { name: 'Connection' })
    await expect(check).toBeVisible()
    await expect(check).not.toContainText('assets')

    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const edit = page.getByRole('dialog', { name: `Edit ${name}` })
    await expect(edit.getByText('Keys are stored.')).toBeVisible()
    await expect(edit.getByLabel('Access key')).toBeHidden()
    await edit.getByLabel('Address').fill('s3.example.com')
    await expect(edit.getByText('belong to the previous address')).toBeVisible()
    await expect(edit.getByLabel('Access key')).toBeVisible()
    await edit.getByLabel('Address').fill(storage.url)
    await edit.getByRole('button', { name: 'Keep the stored keys' }).click()
    await edit.getByRole('button', { name: 'Change keys' }).click()
    await edit.getByLabel('Access key').fill(storageAccount.accessKey)
    await edit.getByLabel('Secret key', { exact: true }).fill(storageAccount.secretKey)
    await edit.getByRole('button', { name: 'Save' }).click()
    await expect(check).toContainText('Reachable')
    await expect(page.getByRole('list', { name: 'Buckets' })).toContainText('assets')

    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete storage' }).click()
    await expect(page.getByText(`${name} deleted`)).toBeVisible()
  })
})
