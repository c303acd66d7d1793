import type { Page } from '@playwright/test'
import pg from 'pg'
import { addAuthenticator } from '../kit/authenticator.ts'
import { newAccount, signIn, tabTo } from '../kit/console.ts'
import { choosePassword, enterPassword, signOut, systemWithMail } from '../kit/mailed.ts'
import { expect, test } from '../kit/test-system.ts'
import { totp } from '../kit/totp.ts'

const crux = systemWithMail()
const settings = (page: Page, path = '') => page.goto(`${crux.url}/auth/settings${path}`)
const inside = (page: Page) => page.waitForURL((address) => !address.pathname.startsWith('/auth/login'))
const submitLogin = (page: Page) => page.getByRole('button', { name: 'Sign in', exact: true }).click()

test('a forgotten password is replaced with a code from the mail, and the old one stops working', async ({ page }) => {
  const account = await crux.verified(page)
  await signOut(page, crux.url)
  await page.getByRole('link', { name: 'Forgot password?' }).click()
  // The page that is left has a field of this name too.
  await expect(page.getByRole('heading', { name: 'Reset the password' })).toBeVisible()
  await page.getByLabel('E-mail').fill(account.email)
  crux.mailbox.empty()
  await page.getByRole('button', { name: 'Send a code' }).click()
  await expect(page.getByText(`If ${account.email} has an account, we sent a code to it.`)).toBeVisible()
  await page.getByLabel('Code').fill(await crux.mailbox.codeFor(account.email))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL('**/auth/settings/new-password')

  // The user has to set the new password before any other page.
  await page.goto(`${crux.url}/teams`)
  await page.waitForURL('**/auth/settings/new-password')
  const renewed = { ...account, password: 'a wholly different secret' }
  await choosePassword(page, 'Save the password', renewed.password)
  await page.waitForURL('**/teams/create')

  await signOut(page, crux.url)
  await enterPassword(page, crux.url, account)
  await expect(page.getByText('E-mail or password is wrong.')).toBeVisible()
  await signIn(page, crux.url, renewed)
})

test('the link of a recovery that the API requests leads to a new password', async ({ page }) => {
  const account = await crux.verified(page)
  await signOut(page, crux.url)
  const recovery = `${crux.url}/kratos/self-service/recovery`
  const { id } = (await (await fetch(`${recovery}/api`)).json()) as { id: string }
  crux.mailbox.empty()
  const asked = await fetch(`${recovery}?flow=${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ method: 'link', email: account.email }),
  })
  expect(asked.status).toBe(200)
  await page.goto(await crux.mailbox.linkFor(account.email, '/kratos/self-service/recovery'))
  await page.waitForURL('**/auth/settings/new-password')
  await choosePassword(page, 'Save the password', 'a wholly different secret')
  await page.waitForURL('**/teams/create')
})

test('recovery does not reveal which addresses have an account', async ({ page }) => {
  await page.goto(`${crux.url}/auth/recovery`)
  await page.getByLabel('E-mail').fill('stranger@example.com')
  await page.getByRole('button', { name: 'Send a code' }).click()
  await expect(page.getByText('If stranger@example.com has an account, we sent a code to it.')).toBeVisible()
})

test('changing the password with an old session requires a new sign-in, which returns to the form', async ({
  page,
}) => {
  const account = await crux.verified(page)
  const pool = new pg.Pool({ connectionString: crux.databaseUrl, max: 1 })
  await pool.query(
    `update identity.sessions set authenticated_at = now() - interval '1 hour'
     where identity_id = (select identity_id from identity.credential_identifiers where identifier = $1 limit 1)`,
    [account.email],
  )
  await pool.end()
  await settings(page, '/change-password')
  const changed = { ...account, password: 'another correct horse' }
  await choosePassword(page, 'Change password', changed.password)
  await page.waitForURL(/\/auth\/login\?refresh=/)
  await expect(page.getByLabel('E-mail')).toHaveValue(account.email)
  await page.getByLabel('Password', { exact: true }).fill(account.password)
  await submitLogin(page)
  await page.waitForURL('**/auth/settings/change-password')
  await choosePassword(page, 'Change password', changed.password)
  await expect(page.getByText('Password changed')).toBeVisible()
  await signOut(page, crux.url)
  await signIn(page, crux.url, changed)
})

test('an account with an authenticator app requires a second factor, and a backup code works once', async ({
  page,
}) => {
  const account = await crux.verified(page)
  await settings(page, '/second-factors')
  await page.getByRole('button', { name: 'Set up' }).click()
  await expect(page.getByRole('img', { name: 'QR code for the authenticator app' })).toBeVisible()
  const secret = ((await page.locator('.mono.break-all').textContent()) ?? '').replaceAll(' ', '')
  const code = page.getByLabel('Code shown by the app')
  await code.fill('000000')
  await page.getByRole('button', { name: 'Turn on' }).click()
  await expect(page.getByText('The code is wrong.')).toBeVisible()
  await code.fill(await totp(secret, -1))
  await page.getByRole('button', { name: 'Turn on' }).click()
  await expect(page.getByText('Authenticator app turned on')).toBeVisible()

  await page.getByRole('button', { name: 'Create codes' }).click()
  const codes = page.locator('ul.mono li')
  await expect(codes).toHaveCount(12)
  const backup = (await codes.first().textContent()) ?? ''
  await page.getByRole('button', { name: 'I have stored them' }).click()
  await expect(page.getByText('Backup codes turned on')).toBeVisible()

  await signOut(page, crux.url)
  await enterPassword(page, crux.url, account)
  await expect(page.getByRole('heading', { name: 'Second factor' })).toBeVisible()
  // A session without its second factor gets no page.
  await page.goto(`${crux.url}/teams`)
  await expect(page.getByRole('heading', { name: 'Second factor' })).toBeVisible()
  await page.getByLabel('Code of your authenticator app').fill(await totp(secret))
  await submitLogin(page)
  await inside(page)

  await signOut(page, crux.url)
  await enterPassword(page, crux.url, account)
  await page.getByRole('button', { name: 'Use a backup code' }).click()
  await page.getByLabel('Backup code').fill(backup)
  await submitLogin(page)
  await inside(page)

  await signOut(page, crux.url)
  await enterPassword(page, crux.url, account)
  await page.getByRole('button', { name: 'Use a backup code' }).click()
  await page.getByLabel('Backup code').fill(backup)
  await submitLogin(page)
  await expect(page.getByText('This backup code was already used.')).toBeVisible()
})

test.describe('an authenticator in the device', () => {
  test.beforeEach(({ page }) => addAuthenticator(page))

  test('allows signing up with a passkey and without a password', async ({ page }) => {
    const { email } = newAccount()
    await page.goto(`${crux.url}/auth/register`)
    const signUp = page.getByRole('button', { name: 'Create the account with a passkey' })
    await signUp.click()
    await expect(page.getByLabel('First name')).toBeFocused()
    await page.getByLabel('First name').fill('Ada')
    await page.getByLabel('E-mail').fill(email)
    await signUp.click()
    await page.waitForURL(/\/auth\/verify/)
    await page.getByLabel('Code').fill(await crux.mailbox.codeFor(email))
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.waitForURL(/\/teams\/create/)

    await settings(page, '/sign-in')
    await expect(page.getByRole('button', { name: 'Remove', exact: true })).toHaveCount(1)
    await signOut(page, crux.url)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL('**/teams/create')
    await settings(page, '/sessions')
    await expect(page.getByText('signed in with a passkey')).toHaveCount(1)
  })

  test('signs in with a passkey without a password until the passkey is deleted', async ({ page }) => {
    await crux.verified(page)
    await settings(page, '/sign-in')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await expect(page.getByText('Passkey added')).toBeVisible()
    const remove = page.getByRole('button', { name: 'Remove', exact: true })
    await expect(remove).toHaveCount(1)

    await signOut(page, crux.url)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL('**/teams/create')

    await settings(page, '/sign-in')
    await remove.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
    await expect(page.getByText('Removed')).toBeVisible()
    await signOut(page, crux.url)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await expect(page.getByRole('alert')).toBeVisible()
  })

  test('requires a security key after the password', async ({ page }) => {
    const account = await crux.verified(page)
    await settings(page, '/second-factors')
    await page.getByRole('button', { name: 'Add a security key' }).click()
    await page.getByLabel('Name').fill('Blue key')
    await page.getByRole('button', { name: 'Continue and touch the key' }).click()
    await expect(page.getByText('Security key added')).toBeVisible()
    await expect(page.getByText('Blue key')).toBeVisible()

    await signOut(page, crux.url)
    await enterPassword(page, crux.url, account)
    await page.getByRole('button', { name: 'Use a security key' }).click()
    await inside(page)
  })
})

test('signing up, confirming the address and signing in work without a mouse, and errors take the focus', async ({
  page,
}) => {
  const account = newAccount()
  await page.goto(`${crux.url}/auth/register`)
  const password = page.getByLabel('Password', { exact: true })
  const again = page.getByLabel('Password again')
  await tabTo(page, page.getByLabel('First name'))
  await page.keyboard.type('Ada')
  await tabTo(page, page.getByLabel('E-mail'))
  await page.keyboard.type(account.email)
  await tabTo(page, password)
  // The password is too similar to the address, which only the service can check.
  await page.keyboard.type(account.email)
  await tabTo(page, again)
  await page.keyboard.type('something else')
  await page.keyboard.press('Enter')
  await expect(again).toBeFocused()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type(account.email)
  await page.keyboard.press('Enter')
  await expect(password).toBeFocused()
  await expect(password).toHaveAccessibleDescription('The password is too similar to your e-mail address.')
  for (const field of [password, again]) {
    await tabTo(page, field)
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type(account.password)
  }
  await page.keyboard.press('Enter')

  await page.waitForURL(/\/auth\/verify/)
  await expect(page.getByLabel('Code')).toBeFocused()
  await page.keyboard.type(await crux.mailbox.codeFor(account.email))
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/auth\/login|\/teams\/create/)

  await signOut(page, crux.url)
  await tabTo(page, page.getByLabel('E-mail'))
  await page.keyboard.type(account.email)
  await tabTo(page, password)
  await page.keyboard.type('not the password')
  await page.keyboard.press('Enter')
  await expect(page.getByText('E-mail or password is wrong.')).toBeVisible()
  await expect(password).toBeFocused()
  await page.keyboard.type(account.password)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/teams/create')
})

test('a session that is ended on another device is signed out at once', async ({ page, browser }) => {
  const account = await crux.verified(page)
  const context = await browser.newContext()
  const other = await context.newPage()
  await signIn(other, crux.url, account)
  await settings(page, '/sessions')
  await expect(page.getByText('this browser')).toBeVisible()
  await expect(page.getByText('Chrome on Linux')).toHaveCount(2)
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await expect(page.getByText('Session signed out')).toBeVisible()
  await other.goto(`${crux.url}/teams`)
  await other.waitForURL(/\/auth\/login/)
  await context.close()
})

test('an API token is shown once, works within its scope, and stops when it is revoked', async ({ page }) => {
  await crux.verified(page)
  await settings(page, '/tokens')
  await page.getByRole('button', { name: 'New token' }).click()
  await page.getByLabel('Name').fill('reader')
  await page.getByRole('button', { name: 'Create token' }).click()
  const token = ((await page.getByRole('region', { name: 'Token', exact: true }).textContent()) ?? '').trim()
  expect(token).toMatch(/^crux_/)
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await expect(page.getByText(token)).toHaveCount(0)

  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const read = () => fetch(`${crux.url}/api/teams`, { headers })
  const write = () =>
    fetch(`${crux.url}/api/teams`, { method: 'POST', headers, body: JSON.stringify({ name: 'Bots', slug: 'bots' }) })
  expect((await read()).status).toBe(200)
  expect((await write()).status).toBe(403)
  await page.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await expect(page.getByText('Token revoked')).toBeVisible()
  expect((await read()).status).toBe(401)
})
