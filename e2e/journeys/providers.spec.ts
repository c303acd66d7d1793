import type { System } from '@crux/dev-env'
import { freePort, type OidcServer, oidcClient, startOidcServer, unique } from '@crux/test-kit'
import type { Page } from '@playwright/test'
import { createAccount, newAccount } from '../kit/console.ts'
import { signOut } from '../kit/mailed.ts'
import { expect, startSystem, test } from '../kit/test-system.ts'

let corp: OidcServer
let crux: System
test.beforeAll(async () => {
  test.setTimeout(120_000)
  // The redirect address must be known to the provider before the system starts.
  const port = await freePort()
  corp = await startOidcServer([`http://localhost:${port}/kratos/self-service/methods/oidc/callback/corp`])
  const provider = { id: 'corp', label: 'Corp Inc.', issuer: corp.issuer, ...oidcClient }
  crux = await startSystem({ port, env: { OIDC_PROVIDERS: JSON.stringify([provider]) } })
})
test.afterAll(async () => {
  await crux?.destroy()
  await corp?.close()
})
test.beforeEach(() => {
  corp.refuses = false
  corp.account = {
    sub: unique('user-'),
    email: `${unique('ada')}@example.com`,
    email_verified: true,
    given_name: 'Ada',
    family_name: 'Byron',
  }
})

const goWithCorp = (page: Page) => page.getByRole('button', { name: 'Continue with Corp Inc.' }).click()
const signUpWithCorp = async (page: Page) => {
  await page.goto(`${crux.url}/auth/register`)
  await goWithCorp(page)
}
const settings = (page: Page, path = '') => page.goto(`${crux.url}/auth/settings${path}`)

test('a provider that returns complete data signs up in one step, signs in again, and stays the last sign-in method', async ({
  page,
}) => {
  await signUpWithCorp(page)
  await page.waitForURL('**/teams/create')
  await settings(page)
  await expect(page.getByText(corp.account.email ?? '')).toBeVisible()
  await expect(page.getByText('Byron')).toBeVisible()

  await signOut(page, crux.url)
  await goWithCorp(page)
  await page.waitForURL('**/teams/create')
  await settings(page, '/sessions')
  await expect(page.getByText('signed in with Corp Inc.')).toHaveCount(1)

  await settings(page, '/sign-in')
  const unlink = page.getByRole('button', { name: 'Unlink' })
  await expect(unlink).toHaveAttribute('aria-disabled', 'true')
  await unlink.focus()
  await expect(page.getByRole('tooltip')).toHaveText('This is your last way to sign in. Add another one first.')
  await unlink.press('Enter')
  await expect(page.getByRole('dialog')).toHaveCount(0)

  await page.getByRole('link', { name: 'Security log' }).click()
  const log = page.getByRole('table', { name: 'Security log' }).getByRole('row')
  await expect(log).toHaveCount(3)
  await expect(log.nth(1)).toContainText('Signed in with Corp Inc.')
  await expect(log.nth(1)).toContainText('Chrome on Linux')
  await expect(log.nth(2)).toContainText('Signed up with Corp Inc.')
})

test('data that a provider does not return is requested, with the focus in the first missing field', async ({
  page,
}) => {
  corp.account = { sub: corp.account.sub, email: corp.account.email, email_verified: true }
  await signUpWithCorp(page)
  await page.waitForURL('**/auth/register-oidc?flow=*')
  await expect(page.getByText('Corp Inc. did not share everything we need. Complete your account.')).toBeVisible()
  await expect(page.getByLabel('E-mail')).toHaveValue(corp.account.email ?? '')
  await expect(page.getByLabel('E-mail')).toBeDisabled()
  await page.getByRole('button', { name: 'Create account' }).click()
  await expect(page.getByLabel('First name')).toBeFocused()
  await expect(page.getByLabel('First name')).toHaveAccessibleDescription('This is required')
  await page.getByLabel('First name').fill('Grace')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.waitForURL('**/teams/create')
  await settings(page)
  await expect(page.getByText('Grace')).toBeVisible()
})

test('an address that a provider does not return is entered by the user', async ({ page }) => {
  corp.account = { sub: corp.account.sub, given_name: 'Ada' }
  await signUpWithCorp(page)
  await page.waitForURL('**/auth/register-oidc?flow=*')
  await expect(page.getByLabel('First name')).toHaveValue('Ada')
  const { email } = newAccount()
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.waitForURL('**/teams/create')
  await settings(page)
  await expect(page.getByText(email)).toBeVisible()
})

test('an account of a provider is linked in the settings, signs in, and is unlinked', async ({ page }) => {
  const account = newAccount()
  await createAccount(page, crux.url, account)
  await page.waitForURL('**/teams/create')
  await settings(page, '/sign-in')
  await page.getByRole('button', { name: 'Link', exact: true }).click()
  await expect(page.getByText('Account linked')).toBeVisible()
  await expect(page).toHaveURL(/\/auth\/settings\/sign-in/)
  await expect(page.getByRole('button', { name: 'Unlink' })).toBeVisible()

  await signOut(page, crux.url)
  await goWithCorp(page)
  await page.waitForURL('**/teams/create')
  await settings(page)
  await expect(page.getByText(account.email)).toBeVisible()

  await settings(page, '/sign-in')
  await page.getByRole('button', { name: 'Unlink' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click()
  await expect(page.getByText('Unlinked')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Link', exact: true })).toBeVisible()
})

test('an account of a provider that signs another user in is not linked, and the page shows it', async ({
  page,
  browser,
}) => {
  const other = await browser.newContext()
  const theirs = await other.newPage()
  await signUpWithCorp(theirs)
  await theirs.waitForURL('**/teams/create')
  await other.close()

  await createAccount(page, crux.url, newAccount())
  await page.waitForURL('**/teams/create')
  await settings(page, '/sign-in')
  await page.getByRole('button', { name: 'Link', exact: true }).click()
  await expect(page.getByRole('alert')).toContainText('This account is already used by someone else here')
  await expect(page.getByRole('button', { name: 'Link', exact: true })).toBeVisible()
})

test('a user who refuses at the provider sees this on the page they came from', async ({ page }) => {
  corp.refuses = true
  await page.goto(`${crux.url}/auth/login`)
  await goWithCorp(page)
  await expect(page.getByRole('alert')).toContainText('Corp Inc. did not confirm the sign-in')
  await expect(page).toHaveURL(/\/auth\/login/)
  await signUpWithCorp(page)
  await expect(page.getByRole('alert')).toContainText('Corp Inc. did not confirm the sign-in')
  await expect(page).toHaveURL(/\/auth\/register\?/)
})

test('an address that has an account is not taken over: its owner is asked to sign in and link', async ({ page }) => {
  const account = newAccount()
  await createAccount(page, crux.url, account)
  await page.waitForURL('**/teams/create')
  await signOut(page, crux.url)
  corp.account.email = account.email
  await goWithCorp(page)
  await expect(page.getByRole('alert')).toContainText('There is an account with this address already.')
  await expect(page.getByRole('alert')).toContainText('link the provider')
})
