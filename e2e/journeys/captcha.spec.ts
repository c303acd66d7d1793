import type { System } from '@crux/dev-env'
import { type CaptchaService, startCaptchaService } from '@crux/test-kit'
import { expect, type Page, test } from '@playwright/test'
import { newAccount } from '../kit/console.ts'
import { startSystem } from '../kit/test-system.ts'

let captcha: CaptchaService
let system: System
test.beforeAll(async () => {
  captcha = await startCaptchaService('what only we and the verifier know')
  system = await startSystem({ env: { ...captcha.settings, CRUX_RATE_LIMITS: 'on' } })
})
test.afterAll(async () => {
  await system?.destroy()
  await captcha?.close()
})

const prove = async (page: Page) => {
  const frame = page.frameLocator('iframe[title="Captcha of our-site"]')
  await frame.getByRole('button', { name: 'I am a person' }).click()
  await expect(frame.getByRole('button', { name: 'Passed' })).toBeVisible()
}

test('a configured captcha is shown and required for signing up, and for signing in after failures', async ({
  page,
}) => {
  const account = newAccount()
  await page.goto(`${system.url}/auth/register`)
  await page.getByLabel('First name').fill('Ada')
  await page.getByLabel('E-mail').fill(account.email)
  await page.getByLabel('Password', { exact: true }).fill(account.password)
  await page.getByLabel('Password again').fill(account.password)
  await page.getByRole('button', { name: 'Create account' }).click()
  await expect(page.getByText('Please show that you are a person, then try again.')).toBeVisible()
  await prove(page)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.waitForURL('**/teams/create')

  await page.context().clearCookies()
  await page.goto(`${system.url}/auth/login`)
  const signIn = async (password: string) => {
    await page.getByLabel('E-mail').fill(account.email)
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }
  for (let tries = 0; tries < 3; tries++) {
    const answered = page.waitForResponse('**/api/auth/login')
    await signIn(`not the password ${tries}`)
    expect((await answered).status()).toBe(400)
  }
  await expect(page.getByText('E-mail or password is wrong.')).toBeVisible()
  await signIn(account.password)
  await expect(page.getByText('Please show that you are a person, then try again.')).toBeVisible()
  await prove(page)
  await signIn(account.password)
  await page.waitForURL('**/teams/create')
})
