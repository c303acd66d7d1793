import { readFile } from 'node:fs/promises'
import { createDeployment, createService, idle, unique } from '@crux/test-kit'
import type { Page } from '@playwright/test'
import { newAccount } from '../kit/console.ts'
import { expect, signedOut, test } from '../kit/journey.ts'
import { choosePassword, systemWithMail } from '../kit/mailed.ts'

test.describe('members of a team', () => {
  test.use({ storageState: signedOut })
  const crux = systemWithMail()

  /** Signs up a user with a team of their own; ends on the page of the team. */
  async function owner(page: Page): Promise<{ slug: string; teamPage: string }> {
    await crux.verified(page)
    const slug = unique('t').slice(0, 16)
    await page.getByLabel('Name', { exact: true }).fill(`Team ${slug}`)
    await page.getByLabel('Slug').fill(slug)
    await page.getByRole('button', { name: 'Create team' }).click()
    await page.waitForURL(`**/${slug}/dashboard`)
    await page.goto(`${crux.url}/teams`)
    await page
      .getByRole('main')
      .getByRole('link', { name: `Team ${slug}` })
      .click()
    await page.waitForURL(/\/teams\/[0-9a-f-]{36}$/)
    return { slug, teamPage: page.url() }
  }

  async function invite(page: Page, email: string) {
    await page.getByRole('button', { name: 'Invite', exact: true }).click()
    const sheet = page.getByRole('dialog')
    await sheet.getByLabel('E-mail').fill(email)
    await sheet.getByLabel('First name').fill('Grace')
    await sheet.getByLabel('Last name').fill('Hopper')
    await sheet.getByRole('button', { name: 'Send the invitation' }).click()
    await expect(page.getByRole('row', { name: email }).getByText('Pending')).toBeVisible()
  }

  test('a new user joins by the link of the mail, becomes an admin, and loses access when removed', async ({
    page,
    browser,
  }) => {
    const { slug, teamPage } = await owner(page)
    const { email } = newAccount()
    await invite(page, email)

    const context = await browser.newContext()
    const grace = await context.newPage()
    await grace.goto(await crux.mailbox.linkFor(email, '/auth/create-account'))
    await grace.getByRole('button', { name: 'Continue' }).click()
    await grace.waitForURL('**/auth/settings/new-password')
    await choosePassword(grace, 'Save the password', 'compilers are easy 1')
    await grace.waitForURL(`**/${slug}/dashboard`)

    // For the role user, actions that need an admin are disabled with a reason.
    await grace.goto(`${crux.url}/${slug}/nodes`)
    const addNode = grace.getByRole('button', { name: 'New node' }).first()
    await expect(addNode).toHaveAttribute('aria-disabled', 'true')
    await addNode.hover()
    await expect(grace.getByText('Needs the role admin; yours is user').first()).toBeVisible()

    await page.goto(teamPage)
    const row = page.getByRole('row', { name: email })
    await expect(row.getByText('Verified')).toBeVisible()
    await row.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Make admin' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Change the role' }).click()
    await expect(row.getByText('admin', { exact: true })).toBeVisible()
    await grace.reload()
    await expect(addNode).not.toHaveAttribute('aria-disabled', 'true')

    await row.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Remove from the team' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove from the team' }).click()
    await expect(row).toHaveCount(0)
    await grace.reload()
    await grace.waitForURL('**/teams/create')
    await context.close()
  })

  test('a user with an account accepts on a separate page, and another user cannot', async ({ page, browser }) => {
    const { slug, teamPage } = await owner(page)
    const context = await browser.newContext()
    const ada = await context.newPage()
    const account = await crux.verified(ada)
    await invite(page, account.email)
    const link = await crux.mailbox.linkFor(account.email, `${new URL(teamPage).pathname}/invitation`)

    const elsewhere = await browser.newContext()
    const stranger = await elsewhere.newPage()
    await crux.verified(stranger)
    await stranger.goto(link)
    await expect(stranger.getByText('No invitation for you here')).toBeVisible()
    await elsewhere.close()

    await ada.goto(crux.url)
    await ada.waitForURL('**/invitation')
    await ada.getByRole('button', { name: 'Accept' }).click()
    await ada.waitForURL(`**/${slug}/dashboard`)
    await context.close()
  })

  test('the last owner cannot leave', async ({ page }) => {
    await owner(page)
    await page.getByRole('main').getByRole('button', { name: 'More actions' }).first().click()
    const leave = page.getByRole('menuitem', { name: 'Leave the team' })
    await expect(leave).toHaveAttribute('aria-disabled', 'true')
    await expect(leave).toContainText('You are the last owner')
  })

  test('actions are listed in the audit log, which can be exported', async ({ page }) => {
    const { slug } = await owner(page)
    await invite(page, newAccount().email)
    await page.goto(`${crux.url}/${slug}/audit-log`)
    await expect(page.getByRole('row', { name: 'Invited someone' })).toBeVisible()
    await expect(page.getByRole('row', { name: 'Created the team' })).toBeVisible()
    await page.getByRole('button', { name: 'Export' }).click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'CSV' }).click(),
    ])
    const text = await readFile(await file.path(), 'utf8')
    expect(text).toContain('teams.invite')
    expect(text).toContain('teams.create')

    await page.getByLabel('Filter by user or event').fill('nothing like this')
    await expect(page.getByText('No matches')).toBeVisible()
  })
})

test('a pipeline deploys with the token of a service account', async ({ page, testSystem }) => {
  const { testEnvironment, system } = testSystem
  const service = await createService(testEnvironment, [{ name: `bot/${unique('a')}`, tag: '1', image: idle() }])
  const deployment = await createDeployment(testEnvironment, service, unique('p'))
  await page.goto(`/teams/${testEnvironment.teamId}`)
  await page.getByRole('button', { name: 'New service account' }).click()
  await page.getByLabel('Name').fill('Pipeline')
  await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('button', { name: 'New token' }).click()
  await page.getByLabel('Name').fill('nightly')
  await page.getByRole('button', { name: 'Create token' }).click()
  const token = ((await page.getByRole('region', { name: 'Token', exact: true }).textContent()) ?? '').trim()
  await page.getByRole('button', { name: 'I have copied it' }).click()

  const started = await fetch(
    `${system.url}/api/${testEnvironment.teamSlug}/deployments/${deployment.id}/start?wait=60`,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{}',
    },
  )
  expect(started.status).toBe(200)
  expect(await started.json()).toMatchObject({ status: 'successful' })
  await page.goto(`/${testEnvironment.teamSlug}/audit-log`)
  await expect(page.getByRole('row', { name: 'Deployed' }).first()).toContainText('Pipeline')
})

test('the command of a deployment token starts its deployment and nothing else', async ({ page, testSystem }) => {
  const { testEnvironment, system } = testSystem
  const service = await createService(testEnvironment, [{ name: `hook/${unique('a')}`, tag: '1', image: idle() }])
  const deployment = await createDeployment(testEnvironment, service, unique('p'))
  const other = await createDeployment(testEnvironment, service, unique('p'))
  await page.goto(`/${testEnvironment.teamSlug}/deployments/${deployment.id}`)
  const box = page.locator('section', { has: page.getByRole('heading', { name: 'Deployment token' }) }).last()
  await box.getByRole('button', { name: 'Create token' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('release')
  await dialog.getByRole('button', { name: 'Create token' }).click()
  const token = ((await page.getByRole('region', { name: 'Token', exact: true }).textContent()) ?? '').trim()
  const command = await page.getByRole('region', { name: 'Command that deploys' }).textContent()
  expect(command).toContain(`/api/${testEnvironment.teamSlug}/deployments/${deployment.id}/start?wait=`)
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await expect(box.getByText('release')).toBeVisible()

  const start = (id: string) =>
    fetch(`${system.url}/api/${testEnvironment.teamSlug}/deployments/${id}/start?wait=60`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{}',
    })
  expect((await start(other.id)).status).toBe(403)
  expect((await start(deployment.id)).status).toBe(200)
  await box.getByRole('button', { name: 'Revoke' }).click()
  await dialog.getByRole('button', { name: 'Revoke' }).click()
  await expect(box.getByText('With a token, a pipeline can start this deployment')).toBeVisible()
  expect((await start(deployment.id)).status).toBe(401)
})
