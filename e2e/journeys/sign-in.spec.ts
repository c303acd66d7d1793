import type { System } from '@crux/dev-env'
import { signUp } from '@crux/test-kit'
import type { Page } from '@playwright/test'
import { type Account, createAccount, newAccount, signIn } from '../kit/console.ts'
import { expect, signedOut, test } from '../kit/journey.ts'
import { type Mailbox, openMailbox } from '../kit/mail.ts'
import { startSystem } from '../kit/test-system.ts'

test.use({ storageState: signedOut })

const fillLogin = async (page: Page, account: Account) => {
  await page.getByLabel('E-mail').fill(account.email)
  await page.getByLabel('Password', { exact: true }).fill(account.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

test('a wrong password is reported in the form, and the right one leads to the requested page', async ({
  page,
  testSystem,
}) => {
  const { user, teamSlug } = testSystem.testEnvironment
  await page.goto(`/${teamSlug}/registries`)
  await page.waitForURL(/\/auth\/login/)
  await fillLogin(page, { email: user.email, password: 'not the password' })
  await expect(page.getByText('E-mail or password is wrong.')).toBeVisible()
  await expect(page.getByLabel('E-mail')).toHaveValue(user.email)
  await fillLogin(page, user)
  await page.waitForURL(`**/${teamSlug}/registries`)
  await expect(page.getByRole('heading', { name: 'Registries', level: 1 })).toBeVisible()
})

test('an address that has an account already is refused with a reason, and typed values stay', async ({
  page,
  testSystem,
}) => {
  const taken = { ...newAccount(), email: testSystem.testEnvironment.user.email }
  await createAccount(page, testSystem.system.url, taken)
  await expect(page.getByText('There is an account with this address already.')).toBeVisible()
  await expect(page.getByLabel('First name')).toHaveValue('Ada')
})

test('errors that the form can detect are shown at the field before anything is sent', async ({ page }) => {
  await page.goto('/auth/register')
  await page.getByLabel('E-mail').fill('nobody')
  await page.getByLabel('First name').fill('Ada')
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
  await page.getByLabel('Password again').fill('something else')
  await page.getByRole('button', { name: 'Create account' }).click()
  await expect(page.getByLabel('E-mail')).toHaveAccessibleDescription(/Enter an e-mail address/)
  await expect(page.getByLabel('Password again')).toHaveAccessibleDescription('The two passwords differ')
  await expect(page.getByLabel('E-mail')).toBeFocused()
})

test('signing out ends the session: pages redirect to the sign-in page', async ({ page, testSystem }) => {
  const user = await signUp(testSystem.system.url)
  await signIn(page, testSystem.system.url, user)
  await page.waitForURL('**/teams/create')
  await page.goto('/auth/logout')
  await page.waitForURL(/\/auth\/login/)
  await page.goto('/teams')
  await page.waitForURL(/\/auth\/login\?return_to/)
})

test('an open page redirects to the sign-in page as soon as its session is ended on another device', async ({
  page,
  testSystem,
}) => {
  const { user, teamSlug } = testSystem.testEnvironment
  await page.goto(`/${teamSlug}/nodes`)
  await fillLogin(page, user)
  await page.waitForURL(`**/${teamSlug}/nodes`)
  await expect(page.getByText('Live', { exact: true })).toBeAttached()
  const ended = await fetch(`${testSystem.system.url}/kratos/sessions/${await getSession(page)}`, {
    method: 'DELETE',
    headers: user.headers(),
  })
  expect(ended.status).toBe(204)
  await page.waitForURL(/\/auth\/login\?return_to/)
})

async function getSession(page: Page): Promise<string> {
  const session = await (await page.request.get('/kratos/sessions/whoami')).json()
  return session.id
}

test.describe('a system that sends mail', () => {
  let mailbox: Mailbox
  let system: System
  test.beforeAll(async () => {
    test.setTimeout(120_000)
    mailbox = await openMailbox()
    system = await startSystem({ smtpUri: mailbox.uri, env: { FROM_EMAIL: 'crux@example.com' } })
  })
  test.afterAll(async () => {
    await system.destroy()
    await mailbox.close()
  })

  test('lets a user in after the code from the mail was entered, and redirects an earlier sign-in there', async ({
    page,
    context,
  }) => {
    const account = newAccount()
    await createAccount(page, system.url, account)
    await page.waitForURL(/\/auth\/verify/)
    const code = await mailbox.codeFor(account.email)
    mailbox.empty()

    await context.clearCookies()
    await page.goto(`${system.url}/auth/login`)
    await fillLogin(page, account)
    await page.waitForURL(/\/auth\/verify/)
    const again = await mailbox.codeFor(account.email)

    await page.getByLabel('Code').fill('000000' === again ? '000001' : '000000')
    await page.getByRole('button', { name: 'Confirm' }).click()
    await expect(page.getByText('The code is wrong')).toBeVisible()
    const right = await mailbox.codeFor(account.email)
    expect(right).toMatch(/^\d{6}$/)
    expect(code).toMatch(/^\d{6}$/)
    await page.getByLabel('Code').fill(right)
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.waitForURL(/\/auth\/login|\/teams\/create/)
    await signIn(page, system.url, account)
    await expect(page.getByRole('heading', { name: 'Create your first team' })).toBeVisible()
  })

  test('prefills the code when the link of the mail is opened, also in a browser without a session', async ({
    page,
    browser,
  }) => {
    const account = newAccount()
    await createAccount(page, system.url, account)
    await page.waitForURL(/\/auth\/verify/)
    const code = await mailbox.codeFor(account.email)
    const elsewhere = await browser.newContext()
    const other = await elsewhere.newPage()
    await other.goto(await mailbox.linkFor(account.email, '/kratos/self-service/verification'))
    await expect(other.getByLabel('Code')).toHaveValue(code)
    await other.getByRole('button', { name: 'Confirm' }).click()
    await other.waitForURL(/\/auth\/login/)
    await elsewhere.close()
    // The browser that signed up is signed in by the verification.
    await page.goto(system.url)
    await expect(page.getByRole('heading', { name: 'Create your first team' })).toBeVisible()
  })
})
