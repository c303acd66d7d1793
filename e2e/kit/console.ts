import { unique } from '@crux/test-kit'
import type { Locator, Page } from '@playwright/test'
import { expect } from './test-system.ts'

export type Account = { email: string; password: string }

export const newAccount = (): Account => ({
  email: `${unique('ada')}@example.com`,
  password: 'correct horse battery staple',
})

/** Submits the registration form. The next page depends on the server. */
export async function createAccount(page: Page, url: string, account: Account): Promise<void> {
  await page.goto(`${url}/auth/register`)
  await page.getByLabel('E-mail').fill(account.email)
  await page.getByLabel('First name').fill('Ada')
  await page.getByLabel('Last name').fill('Lovelace')
  await page.getByLabel('Password', { exact: true }).fill(account.password)
  await page.getByLabel('Password again').fill(account.password)
  await page.getByRole('button', { name: 'Create account' }).click()
}

/** Signs up in the browser and creates the first team. Ends on its dashboard. */
export async function signUpInBrowser(
  page: Page,
  url: string,
  options: { slug?: string; teamName?: string } = {},
): Promise<Account & { teamSlug: string }> {
  const account = newAccount()
  await createAccount(page, url, account)
  await expect(page.getByRole('heading', { name: 'Create your first team' })).toBeVisible()
  const teamSlug = options.slug ?? unique('t').slice(0, 16)
  await page.getByLabel('Name', { exact: true }).fill(options.teamName ?? `Team ${teamSlug}`)
  await page.getByLabel('Slug').fill(teamSlug)
  await page.getByRole('button', { name: 'Create team' }).click()
  await page.waitForURL(`**/${teamSlug}/dashboard`)
  return { ...account, teamSlug }
}

export async function signIn(page: Page, url: string, account: Account): Promise<void> {
  await page.goto(`${url}/auth/login`)
  await page.getByLabel('E-mail').fill(account.email)
  await page.getByLabel('Password', { exact: true }).fill(account.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL((address) => !address.pathname.startsWith('/auth/'))
}

/** Presses Tab until the focus is on the target. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 20; presses++) {
    if (
      await target.evaluate(
        (element: unknown) =>
          (globalThis as { document?: { activeElement: unknown } }).document?.activeElement === element,
      )
    )
      return
    await page.keyboard.press('Tab')
  }
  await expect(target, 'reached with the Tab key').toBeFocused()
}

/** Selects this image of this registry in the dialog "Add images" of a version. */
export async function addImage(page: Page, registry: string | RegExp, image: string): Promise<void> {
  await page.getByRole('button', { name: 'Add images' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Add images' })
  const chip = dialog.getByRole('radio', { name: registry })
  // A team with more than four registries searches for one.
  const change = dialog.getByRole('button', { name: 'Change registry' })
  await expect(chip.or(change).first()).toBeVisible()
  if (await change.isVisible()) {
    await change.click()
    await dialog.getByRole('button', { name: registry }).first().click()
  } else await chip.click()
  await dialog.getByLabel('Find an image').fill(image)
  await dialog.getByRole('checkbox', { name: image }).click()
  await dialog.getByRole('button', { name: 'Add 1 image' }).click()
  await expect(page.getByRole('row', { name: image })).toBeVisible()
}

/** Adds a section to the form of a configuration through its list of settings. */
export async function showSetting(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name, exact: true }).click()
}
