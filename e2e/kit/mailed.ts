import type { System } from '@crux/dev-env'
import type { Page } from '@playwright/test'
import { type Account, createAccount, newAccount, signIn } from './console.ts'
import { type Mailbox, openMailbox } from './mail.ts'
import { startSystem, test } from './test-system.ts'

/** A system that sends mail, shared by the tests of a file. */
export function systemWithMail() {
  const parts = {} as { system: System; mailbox: Mailbox }
  test.beforeAll(async () => {
    test.setTimeout(120_000)
    parts.mailbox = await openMailbox()
    parts.system = await startSystem({ smtpUri: parts.mailbox.uri, env: { FROM_EMAIL: 'crux@example.com' } })
  })
  test.afterAll(async () => {
    await parts.system?.destroy()
    await parts.mailbox?.close()
  })
  return {
    get url() {
      return parts.system.url
    },
    get databaseUrl() {
      return parts.system.databaseUrl
    },
    get mailbox() {
      return parts.mailbox
    },
    /** Signs up and confirms the address through the user interface. Ends signed in, without a team. */
    async verified(page: Page): Promise<Account> {
      const account = newAccount()
      await createAccount(page, parts.system.url, account)
      await page.waitForURL(/\/auth\/verify/)
      await page.getByLabel('Code').fill(await parts.mailbox.codeFor(account.email))
      await page.getByRole('button', { name: 'Confirm' }).click()
      await page.waitForURL(/\/auth\/login|\/teams\/create/)
      if (page.url().includes('/auth/login')) await signIn(page, parts.system.url, account)
      await page.waitForURL('**/teams/create')
      return account
    },
  }
}

export async function signOut(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/auth/logout`)
  await page.waitForURL(/\/auth\/login/)
}

/** Submits the password. The next step depends on the account. */
export async function enterPassword(page: Page, url: string, { email, password }: Account): Promise<void> {
  await page.goto(`${url}/auth/login`)
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

export async function choosePassword(page: Page, button: string, password: string): Promise<void> {
  await page.getByLabel('New password').fill(password)
  await page.getByLabel('Password again').fill(password)
  await page.getByRole('button', { name: button }).click()
}
