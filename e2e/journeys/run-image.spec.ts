import { createTeam, freePort, removeContainers, unique, web } from '@crux/test-kit'
import type { BrowserContext, Page } from '@playwright/test'
import { newAccount } from '../kit/console.ts'
import { expect, signedOut, test } from '../kit/journey.ts'
import { answers } from '../kit/service.ts'

/** Counts the clicks of a user on all pages of a browser. */
async function countClicks(context: BrowserContext): Promise<() => number> {
  let clicks = 0
  await context.exposeFunction('countClick', () => {
    clicks++
  })
  await context.addInitScript(`addEventListener('click', (event) => event.isTrusted && countClick(), true)`)
  return () => clicks
}

/** Clicks into a field and types, as a user with a mouse does. */
async function typeInto(page: Page, label: string, text: string) {
  await page.getByLabel(label, { exact: true }).click()
  await page.keyboard.type(text)
}

const openForm = async (page: Page, address: string) => {
  await page.goto(`${address}/projects#run`)
  return page.getByRole('dialog', { name: 'Run an image' })
}

test.describe('a new user', () => {
  test.use({ storageState: signedOut })

  test('runs an image with at most 15 clicks from the sign-up to the opened service', async ({
    page,
    context,
    testSystem,
  }) => {
    test.setTimeout(180_000)
    const { url } = testSystem.system
    const image = `shop/${unique('web')}`
    await testSystem.registry.push(image, '1.0.0', web('hello from the first run'))
    const clicks = await countClicks(context)
    const account = newAccount()
    const slug = unique('t').slice(0, 16)

    await test.step('an account and a team', async () => {
      await page.goto(`${url}/auth/register`)
      await typeInto(page, 'E-mail', account.email)
      await typeInto(page, 'First name', 'Ada')
      await typeInto(page, 'Last name', 'Lovelace')
      await typeInto(page, 'Password', account.password)
      await typeInto(page, 'Password again', account.password)
      await page.getByRole('button', { name: 'Create account' }).click()
      await expect(page.getByRole('heading', { name: 'Create your first team' })).toBeVisible()
      await typeInto(page, 'Name', slug)
      await page.getByRole('button', { name: 'Create team' }).click()
      await page.waitForURL(/\/dashboard$/)
    })

    const dialog = page.getByRole('dialog', { name: 'Run an image' })
    await test.step('an image of a registry that the team does not have', async () => {
      await page.getByRole('button', { name: 'Run an image' }).click()
      await expect(dialog.getByLabel('Image')).toBeFocused()
      await page.keyboard.type(`${testSystem.registry.host}/${image}:1.0.0`)
      await expect(dialog.getByText('An unchecked one is created with the project.')).toBeVisible()
    })

    await test.step('a node: this machine', async () => {
      await dialog.getByRole('button', { name: 'Use this machine' }).click()
      await expect(dialog.getByRole('radio', { name: 'this-machine' })).toBeChecked({ timeout: 30_000 })
      await expect(dialog.getByLabel('Prefix')).toHaveValue(image.slice(5))
    })

    await test.step('a port, for which a free one is proposed', async () => {
      await dialog.getByRole('button', { name: 'Add a port' }).click()
      await typeInto(page, 'In the container', '8080')
      await expect(dialog.getByLabel('On the node')).toHaveValue(/^\d+$/)
    })
    const port = Number(await dialog.getByLabel('On the node').inputValue())

    await test.step('the progress, whose result opens the service', async () => {
      await dialog.getByRole('button', { name: 'Run', exact: true }).click()
      await page.waitForURL(/\/deploy$/)
      await expect(page.getByRole('status', { name: 'Result' })).toContainText('1 image deployed', { timeout: 60_000 })
      const link = page.getByRole('link', { name: `Open :${port}` })
      await expect(link).toHaveAttribute('href', new RegExp(`^http://[^/]+:${port}$`))
      const opened = page.waitForEvent('popup')
      await link.click()
      expect((await opened).url()).toMatch(new RegExp(`:${port}/?$`))
      await answers(port, 'hello from the first run')
    })

    expect(clicks()).toBeGreaterThan(10)
    expect(clicks()).toBeLessThanOrEqual(15)
    await removeContainers(`dev.crux.prefix=${image.slice(5)}`)
  })
})

test('the ports of an image are proposed from its registry, and a used prefix is named', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment, registry, system } = testSystem
  const image = `shop/${unique('api')}`
  await registry.push(image, '2.0', web('proposed', await freePort()))
  await registry.push(image, 'gone', web('never'))
  const dialog = await openForm(page, `${system.url}/${testEnvironment.teamSlug}`)
  const button = dialog.getByRole('button', { name: 'Run', exact: true })

  await test.step('a tag that does not exist disables the button', async () => {
    await dialog.getByLabel('Image').fill(`${registry.host}/${image}:none`)
    await expect(dialog.getByText('has no such image. Check the name and the tag.')).toBeVisible()
    await expect(button).toBeDisabled()
    await expect(dialog.getByText('This image cannot be run')).toBeVisible()
  })

  await test.step('one that exists fills ports and prefix', async () => {
    await dialog.getByLabel('Image').fill(`${registry.host}/${image}:2.0`)
    await expect(dialog.getByText(/^Found in /)).toBeVisible()
    await expect(dialog.getByLabel('In the container')).toHaveValue(/^\d+$/)
    await expect(dialog.getByLabel('On the node')).toHaveValue(await dialog.getByLabel('In the container').inputValue())
    await expect(dialog.getByLabel('Prefix')).toHaveValue(image.slice(5))
    await expect(button).toBeEnabled()
  })

  await test.step('keyboard: Enter runs it', async () => {
    await dialog.getByLabel('Prefix').press('Enter')
    await page.waitForURL(/\/deploy$/)
    await expect(page.getByRole('status', { name: 'Result' })).toContainText('1 image deployed', { timeout: 60_000 })
  })

  await test.step('a second run cannot use its prefix', async () => {
    await openForm(page, `${system.url}/${testEnvironment.teamSlug}`)
    await dialog.getByLabel('Image').fill(`${registry.host}/${image}:2.0`)
    await expect(dialog.getByLabel('Prefix')).toHaveValue(`${image.slice(5)}-2`)
    await dialog.getByLabel('Prefix').fill(image.slice(5))
    await expect(dialog.getByText(`${image.slice(5)} uses this prefix on the node.`)).toBeVisible()
  })
  await removeContainers(`dev.crux.prefix=${image.slice(5)}`)
})

test('an image that disappears before it runs leaves nothing behind', async ({ page, testSystem }) => {
  const { registry, system } = testSystem
  const { user } = testSystem.testEnvironment
  const { teamSlug } = await createTeam(user)
  const image = `shop/${unique('lost')}`
  await registry.push(image, '1.0', web('lost'))
  const body = { name: 'Local', type: 'v2' as const, details: { url: registry.host, public: true } }
  await user.client.call('registries.create', { params: { teamSlug }, body })

  const dialog = await openForm(page, `${system.url}/${teamSlug}`)
  await dialog.getByLabel('Image').fill(`${registry.host}/${image}:1.0`)
  await dialog.getByRole('button', { name: 'Use this machine' }).click()
  await expect(dialog.getByRole('radio', { name: 'this-machine' })).toBeChecked({ timeout: 30_000 })
  await expect(dialog.getByLabel('In the container')).toHaveValue('8080')
  await registry.deleteTag(image, '1.0')
  await dialog.getByRole('button', { name: 'Run', exact: true }).click()
  await expect(dialog.getByText(/has no image .*Check the name and the tag/)).toBeVisible()
  await expect(dialog.getByLabel('Image')).toBeFocused()

  await page.goto(`${system.url}/${teamSlug}/projects`)
  await expect(page.getByText('No projects yet')).toBeVisible()
  expect(await user.client.call('projects.list', { params: { teamSlug } })).toEqual([])
})
