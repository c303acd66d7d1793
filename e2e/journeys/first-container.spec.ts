import { raw, unique, web } from '@crux/test-kit'
import { signUpInBrowser } from '../kit/console.ts'
import { answerOf, answers, hostPort } from '../kit/service.ts'
import { expect, removeContainers, test } from '../kit/stage.ts'

test('from an account to a running container, a new tag, and a bad one that changes nothing', async ({
  page,
  stage,
}) => {
  test.setTimeout(240_000)
  const { url } = stage.system
  const port = hostPort()
  const prefix = unique('shop')
  const image = `shop/${unique('web')}`
  await stage.registry.push(image, '1.0.0', web('hello one'))
  await stage.registry.push(image, '1.1.0', web('hello two'))

  const { teamSlug } = await signUpInBrowser(page, url)

  await test.step('a node: use this machine', async () => {
    await page.goto(`${url}/${teamSlug}/nodes#new`)
    await page.getByLabel('Name', { exact: true }).fill('this-machine')
    await page.getByRole('button', { name: 'Create node' }).click()
    await page.getByRole('button', { name: 'Use this machine' }).click()
    await expect(page.getByText('Connected').first()).toBeVisible({ timeout: 30_000 })
  })

  await test.step('a registry', async () => {
    await page.goto(`${url}/${teamSlug}/registries#new`)
    await page.getByLabel('Name', { exact: true }).fill('local registry')
    await page.getByLabel('Address').fill(stage.registry.host)
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await expect(page.getByText('local registry').first()).toBeVisible()
  })

  await test.step('a project with an image', async () => {
    await page.goto(`${url}/${teamSlug}/projects#new`)
    await page.getByLabel('Name', { exact: true }).fill('Shop')
    await page.getByRole('switch', { name: 'With versions' }).click()
    await page.getByRole('button', { name: 'Create project' }).click()
    await page.getByRole('button', { name: 'Add images' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('local registry').click()
    await dialog.getByLabel('Find an image').fill(image)
    await dialog.getByRole('checkbox', { name: image }).click()
    await dialog.getByRole('button', { name: 'Add 1 image' }).click()
    await expect(page.getByText(image).first()).toBeVisible()
    await page
      .getByRole('button', { name: /Choose a tag|Change the tag/ })
      .first()
      .click()
    await page.getByRole('dialog').getByText('1.0.0', { exact: true }).click()
    await expect(page.getByText('1.0.0').first()).toBeVisible()
    await page.keyboard.press('Escape')
  })

  await test.step('a published port in the configuration', async () => {
    await page.getByRole('link', { name: 'Configuration' }).first().click()
    await expect(page).toHaveURL(/container-configurations/)
    await page.getByRole('button', { name: /Ports/ }).first().click()
    await page.getByLabel('Internal port').first().fill('8080')
    await page.getByLabel('Host port').first().fill(String(port))
    await page.getByLabel('Host port').first().blur()
    await expect(page.getByText('Saved')).toBeVisible()
  })

  await test.step('a deployment', async () => {
    await page.goto(`${url}/${teamSlug}/deployments`)
    await page.getByRole('button', { name: 'New deployment' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Prefix').fill(prefix)
    await dialog.getByRole('button', { name: 'Prepare deployment' }).click()
    await page.waitForURL(/deployments\/[0-9a-f-]{36}$/)
    await page.getByRole('button', { name: /Deploy 1 image/ }).click()
    await page.waitForURL(/\/deploy$/)
    await expect(page.getByText('Successful').first()).toBeVisible({ timeout: 60_000 })
    await answers(port, 'hello one')
  })

  await test.step('its log', async () => {
    await expect(page.getByText('listening on :8080').first()).toBeVisible()
  })

  await test.step('a new tag', async () => {
    await setTagInBrowser('1.1.0')
    await deployAgain()
    await expect(page.getByText('Successful').first()).toBeVisible({ timeout: 60_000 })
    await answers(port, 'hello two')
  })

  await test.step('a bad tag leaves the old one answering, and says so', async () => {
    const versionUrl = await versionPage()
    const [, projectId, versionId] = /projects\/([^/]+)(?:\/versions\/([^/?]+))?/.exec(versionUrl) ?? []
    expect(projectId, versionId).toBeTruthy()
    await breakTag()
    await deployAgain()
    await expect(page.getByText('Failed').first()).toBeVisible({ timeout: 60_000 })
    await expect(page.getByText(/gone/).first()).toBeVisible()
    expect(await answerOf(port)).toBe('hello two')
  })

  const containers = await raw.list(`dev.crux.prefix=${prefix}`)
  expect(containers).toHaveLength(1)
  await removeContainers(`dev.crux.prefix=${prefix}`)

  async function versionPage(): Promise<string> {
    await page.goto(`${url}/${teamSlug}/projects`)
    await page.getByRole('link', { name: 'Shop' }).first().click()
    await page.waitForURL(/projects\/[0-9a-f-]{36}/)
    return page.url()
  }
  async function setTagInBrowser(tag: string) {
    await versionPage()
    await page.getByRole('button', { name: 'Change the tag' }).first().click()
    await page.getByRole('dialog').getByText(tag, { exact: true }).click()
    await expect(page.getByText(tag).first()).toBeVisible()
    await page.keyboard.press('Escape')
  }
  async function breakTag() {
    await stage.registry.push(image, 'gone', web('never'))
    await setTagInBrowser('gone')
    await stage.registry.deleteTag(image, 'gone')
  }
  async function deployAgain() {
    await page.goto(`${url}/${teamSlug}/deployments`)
    await page
      .getByRole('row', { name: new RegExp(prefix) })
      .getByRole('link')
      .first()
      .click()
    await page.waitForURL(/deployments\/[0-9a-f-]{36}/)
    if (page.url().endsWith('/deploy')) await page.goto(page.url().replace(/\/deploy$/, ''))
    await page.getByRole('button', { name: /Deploy 1 image/ }).click()
    await page.waitForURL(/\/deploy$/)
  }
})
