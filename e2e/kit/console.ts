import { unique } from '@crux/test-kit'
import type { Page } from '@playwright/test'
import { expect } from './stage.ts'

export type Account = { email: string; password: string }

/** Signs up in the browser and makes the first team. Ends on its dashboard. */
export async function signUpInBrowser(
  page: Page,
  url: string,
  options: { slug?: string; teamName?: string } = {},
): Promise<Account & { teamSlug: string }> {
  const email = `${unique('ada')}@example.com`
  const password = 'correct horse battery staple'
  await page.goto(`${url}/auth/register`)
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('First name').fill('Ada')
  await page.getByLabel('Last name').fill('Lovelace')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByLabel('Password again').fill(password)
  await page.getByRole('button', { name: 'Create account' }).click()
  await expect(page.getByRole('heading', { name: 'Create your first team' })).toBeVisible()
  const teamSlug = options.slug ?? unique('t').slice(0, 16)
  await page.getByLabel('Name', { exact: true }).fill(options.teamName ?? 'Acme')
  await page.getByLabel('Slug').fill(teamSlug)
  await page.getByRole('button', { name: 'Create team' }).click()
  await page.waitForURL(`**/${teamSlug}/dashboard`)
  return { email, password, teamSlug }
}

export async function signIn(page: Page, url: string, account: Account): Promise<void> {
  await page.goto(`${url}/auth/login`)
  await page.getByLabel('E-mail').fill(account.email)
  await page.getByLabel('Password', { exact: true }).fill(account.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL((address) => !address.pathname.startsWith('/auth/'))
}

/** Gives the browser the session of a person who signed up over the API. */
export async function signInAs(page: Page, url: string, person: Account): Promise<void> {
  await signIn(page, url, person)
}
