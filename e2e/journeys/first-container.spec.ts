import { freePort, raw, removeContainers, unique, web } from '@crux/test-kit'
import { addImage, showSetting, signUpInBrowser } from '../kit/console.ts'
import { expect, signedOut, test } from '../kit/journey.ts'
import { answers, toAnswer } from '../kit/service.ts'

test.use({ storageState: signedOut })

test('a new user deploys a first container and a new tag, and a bad tag changes nothing', async ({
  page,
  testSystem,
}) => {
  test.setTimeout(240_000)
  const { url } = testSystem.system
  const port = await freePort()
  const prefix = unique('shop')
  const image = `shop/${unique('web')}`
  await testSystem.registry.push(image, '1.0.0', web('hello one'))
  await testSystem.registry.push(image, '1.1.0', web('hello two'))
  await testSystem.registry.push(image, 'gone', web('never'))

  const { teamSlug } = await signUpInBrowser(page, url)
  const open = (path: string) => page.goto(`${url}/${teamSlug}/${path}`)
  const result = page.getByRole('status', { name: 'Result' })

  await test.step('a node: use this machine', async () => {
    await open('nodes#new')
    await page.getByLabel('Name', { exact: true }).fill('this-machine')
    await page.getByRole('button', { name: 'Create node' }).click()
    await page.getByRole('button', { name: 'Use this machine' }).click()
    await expect(page.getByRole('main').getByText('Connected', { exact: true })).toBeVisible({ timeout: 30_000 })
  })

  await test.step('a registry', async () => {
    await open('registries#new')
    await page.getByLabel('Name', { exact: true }).fill('local registry')
    await page.getByRole('textbox', { name: 'Address', exact: true }).fill(testSystem.registry.host)
    await page.getByRole('button', { name: 'Create registry' }).click()
    await expect(page.getByRole('main').getByText('local registry').first()).toBeVisible()
  })

  await test.step('a project with an image', async () => {
    await open('projects#new')
    await page.getByLabel('Name', { exact: true }).fill('Shop')
    await page.getByRole('switch', { name: 'With versions' }).click()
    await page.getByRole('button', { name: 'Create project' }).click()
    await addImage(page, 'local registry', image)
    await page.getByRole('button', { name: 'Choose a tag' }).click()
    await page.getByRole('dialog').getByRole('button', { name: '1.0.0' }).click()
    await expect(page.getByRole('row', { name: image }).getByText('1.0.0')).toBeVisible()
  })

  await test.step('a published port in the configuration', async () => {
    await page.getByRole('row', { name: image }).getByRole('button', { name: 'Configuration' }).click()
    await page.waitForURL(/container-configurations/)
    await showSetting(page, 'Ports')
    const ports = page.getByRole('region', { name: 'Ports' })
    // Choosing an empty section adds a row and moves the focus into it.
    await expect(ports.getByLabel('Inside', { exact: true })).toBeFocused()
    await page.keyboard.type('8080')
    await ports.getByLabel('On the node', { exact: true }).fill(String(port))
    await ports.getByLabel('On the node', { exact: true }).blur()
    await expect(page.locator('[data-save=saved]')).toBeVisible()
  })

  await test.step('a deployment answers over HTTP', async () => {
    await open('deployments')
    await page.getByRole('button', { name: 'New deployment' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Project').selectOption({ label: 'Shop' })
    await expect(dialog.getByRole('radio', { name: 'this-machine' })).toBeChecked()
    await dialog.getByLabel('Prefix').fill(prefix)
    await dialog.getByRole('button', { name: 'Create deployment' }).click()
    await page.waitForURL(/deployments\/[0-9a-f-]{36}$/)
    await deploy()
    const images = page.getByRole('list', { name: 'Images' })
    await expect(result).toBeVisible()
    const before = (await images.boundingBox())?.y
    await expect(result).toContainText('1 image deployed', { timeout: 60_000 })
    expect((await images.boundingBox())?.y, 'the result pushes nothing down').toBe(before)
    await answers(port, 'hello one')
  })

  await test.step('the service opens from the page of its deployment, which says one duration', async () => {
    await expect(result).toContainText('deployed in')
    const took = /deployed in ([\d.]+ m?s)/.exec((await result.textContent()) ?? '')?.[1] ?? 'no duration'
    await page.goto(page.url().replace(/\/deploy$/, ''))
    const service = page.getByRole('link', { name: `Open :${port}` })
    await expect(service).toHaveAttribute('href', new RegExp(`^http://[^/]+:${port}$`))
    await expect(page.getByRole('button', { name: new RegExp(`^Copy .*:${port}$`) })).toBeVisible()
    await expect(page.getByRole('main').getByText(`1 image, ${took}`)).toHaveCount(2)
    await page.getByRole('button', { name: 'Log', exact: true }).click()
    await expect(page.getByRole('region', { name: 'Release' }).getByText(took, { exact: true })).toBeVisible()
  })

  await test.step('its log is on the page', async () => {
    await page.getByRole('link', { name: 'Containers on this-machine' }).click()
    await page.getByRole('row', { name: prefix }).getByRole('button', { name: 'Log', exact: true }).click()
    await expect(page.getByText('listening on :8080')).toBeVisible()
  })

  await test.step('a new tag takes over', async () => {
    await setTag('1.1.0')
    await deployAgain()
    await expect(result).toContainText('1 image deployed', { timeout: 60_000 })
    await answers(port, 'hello two')
  })

  await test.step('a bad tag leaves the old one answering, and the page says so', async () => {
    await setTag('gone')
    await testSystem.registry.deleteTag(image, 'gone')
    await deployAgain()
    await expect(result).toContainText(/gone/, { timeout: 60_000 })
    // The error text of the registry is shown only on request.
    await expect(result.getByText('manifest unknown')).toBeHidden()
    await result.getByText('Details').click()
    await expect(result.getByText('manifest unknown')).toBeVisible()
    await expect(page.getByText(/answers$/)).toBeVisible()
    await expect(page.getByRole('button', { name: 'Deploy again' })).toBeEnabled()
    expect(await toAnswer(port)).toBe('hello two')
  })

  expect(await raw.list(`dev.crux.prefix=${prefix}`)).toHaveLength(1)
  await removeContainers(`dev.crux.prefix=${prefix}`)

  async function deploy() {
    // The list, which the page of the deployment replaces, has a button of the same name in the row of the new deployment.
    await expect(page.getByRole('heading', { level: 1, name: 'Shop' })).toBeVisible()
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    await page.waitForURL(/\/deploy$/)
  }
  async function deployAgain() {
    await open('deployments')
    await page.getByRole('row', { name: prefix }).getByRole('link', { name: 'Shop' }).click()
    await page.waitForURL(/deployments\/[0-9a-f-]{36}$/)
    await deploy()
  }
  async function setTag(tag: string) {
    await open('projects')
    await page.getByRole('link', { name: 'Shop' }).first().click()
    const row = page.getByRole('row', { name: image })
    await row.getByRole('button', { name: 'Change the tag' }).click()
    await page.getByRole('dialog').getByRole('button', { name: tag }).click()
    await expect(row.getByText(tag, { exact: true })).toBeVisible()
  }
})
