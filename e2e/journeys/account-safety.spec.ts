import type { Page } from '@playwright/test'
import pg from 'pg'
import { newAccount } from '../kit/console.ts'
import { enterPassword, systemWithMail } from '../kit/mailed.ts'
import { expect, test } from '../kit/test-system.ts'

const crux = systemWithMail()

/** Moves the last sign-in of all sessions one hour into the past. */
async function ageSessions() {
  const client = new pg.Client({ connectionString: crux.databaseUrl })
  await client.connect()
  await client.query(`update identity.sessions set authenticated_at = now() - interval '1 hour'`)
  await client.end()
}

const typed = (page: Page) => page.getByRole('dialog').getByLabel('Name')

test('signing up with a code instead of a password creates an account that is signed in and verified', async ({
  page,
}) => {
  const { email } = newAccount()
  await page.goto(`${crux.url}/auth/register`)
  await page.getByRole('button', { name: 'Use a code by e-mail instead' }).click()
  await expect(page.getByLabel('First name')).toHaveAttribute('aria-invalid', 'true')
  await page.getByLabel('First name').fill('Grace')
  await page.getByLabel('E-mail').fill(email)
  crux.mailbox.empty()
  await page.getByRole('button', { name: 'Use a code by e-mail instead' }).click()
  await page.getByLabel('Code').fill('000000')
  await page.getByRole('button', { name: 'Create account', exact: true }).click()
  await expect(page.getByText(/code is (wrong|invalid|not right)/i)).toBeVisible()
  await page.getByLabel('Code').fill(await crux.mailbox.codeFor(email))
  await page.getByRole('button', { name: 'Create account', exact: true }).click()
  await page.waitForURL('**/teams/create')
  await page.goto(`${crux.url}/auth/settings`)
  await expect(page.getByText(email)).toBeVisible()
})

test('creating an API token requires a new sign-in when the last one is old, and keeps the typed values', async ({
  page,
}) => {
  const account = await crux.verified(page)
  await page.goto(`${crux.url}/auth/settings/tokens`)
  await ageSessions()
  await page.getByRole('button', { name: 'New token' }).click()
  await typed(page).fill('Nightly deploys')
  await page.getByRole('dialog').getByText('Read and deploy').click()
  // The server may cache the session for two seconds. It checks the sign-in before it reads a body.
  const tokens = `${crux.url}/api/tokens`
  await expect
    .poll(async () => (await page.request.post(tokens, { data: {}, headers: { origin: crux.url } })).status())
    .toBe(403)
  await page.getByRole('button', { name: 'Create token' }).click()
  await page.getByRole('button', { name: 'Sign in again' }).click()
  await page.waitForURL('**/auth/login?**')
  await page.getByRole('textbox', { name: 'Password' }).fill(account.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL('**/auth/settings/tokens**')
  await expect(typed(page)).toHaveValue('Nightly deploys')
  await page.getByRole('button', { name: 'Create token' }).click()
  await expect(page.getByRole('dialog').getByText(/^crux_/)).toBeVisible()
  await page.getByRole('button', { name: 'I have copied it' }).click()

  await page.goto(`${crux.url}/auth/settings/change-password`)
  await page.getByRole('switch', { name: 'Revoke your API token' }).click()
  await page.getByLabel('New password', { exact: true }).fill('a wholly different secret')
  await page.getByLabel('Password again').fill('a wholly different secret')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.waitForURL('**/auth/settings')
  await page.goto(`${crux.url}/auth/settings/tokens`)
  await expect(page.getByText('No tokens yet')).toBeVisible()
})

test('an account is deleted after its address was typed, and its session and password stop working', async ({
  page,
}) => {
  const account = await crux.verified(page)
  await page.goto(`${crux.url}/auth/settings`)
  await page.getByRole('button', { name: 'Delete account' }).click()
  const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog'))
  await dialog.getByRole('textbox').fill(account.email)
  await dialog.getByRole('button', { name: 'Delete account' }).click()
  await page.waitForURL('**/auth/login**')
  await enterPassword(page, crux.url, account)
  await expect(page.getByText('E-mail or password is wrong.')).toBeVisible()
})
