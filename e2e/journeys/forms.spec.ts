import { createDeployment, createService, idle, unique } from '@crux/test-kit'
import type { Page } from '@playwright/test'
import { expect, test } from '../kit/journey.ts'

/** Opens the form of a new project from the dashboard through the user interface. */
async function openNewProject(page: Page, teamSlug: string) {
  await page.goto(`/${teamSlug}/dashboard`)
  await page.getByRole('navigation').getByRole('link', { name: 'Projects' }).click()
  await page.getByRole('button', { name: 'New project' }).first().click()
  const form = page.getByRole('dialog', { name: 'New project' })
  await expect(form).toBeVisible()
  return form
}

test('Back leads to the page and not to its form again, whether the form was submitted or closed', async ({
  page,
  testSystem,
}) => {
  const { teamSlug } = testSystem.testEnvironment
  const list = (url: URL) => url.pathname === `/${teamSlug}/projects` && url.hash === ''
  const form = await openNewProject(page, teamSlug)
  await page.keyboard.press('Escape')
  await expect(form).toBeHidden()
  await page.goBack()
  await page.waitForURL(list)
  await expect(page.getByRole('heading', { name: 'Projects', level: 1 })).toBeVisible()
  await expect(form).toBeHidden()

  await page.getByRole('button', { name: 'New project' }).first().click()
  await form.getByLabel('Name').fill(unique('Back '))
  await form.getByRole('button', { name: 'Create project' }).click()
  await page.waitForURL(/\/projects\/[0-9a-f-]{36}$/)
  await page.goBack()
  await page.waitForURL(list)
  await expect(page.getByRole('heading', { name: 'Projects', level: 1 })).toBeVisible()
  await expect(form).toBeHidden()
})

test('the end of a session keeps the typed values of a form, which can be submitted after the next sign-in', async ({
  page,
  context,
  session,
  testSystem,
}) => {
  const name = unique('Kept ')
  const form = await openNewProject(page, testSystem.testEnvironment.teamSlug)
  await form.getByLabel('Name').fill(name)
  await context.clearCookies()
  await form.getByRole('button', { name: 'Create project' }).click()
  const word = page.getByRole('dialog', { name: 'You are signed out' })
  await expect(word).toBeVisible()
  const [other] = await Promise.all([
    context.waitForEvent('page'),
    word.getByRole('button', { name: 'Sign in in a new tab' }).click(),
  ])
  await other.waitForURL(/\/auth\/login$/)
  await other.close()
  await expect(form.getByLabel('Name')).toHaveValue(name)
  await context.addCookies(session.cookies)
  await form.getByRole('button', { name: 'Create project' }).click()
  await expect(page.getByRole('heading', { name })).toBeVisible()
})

test('a request is sent also when the browser believes to be offline, and a failure is shown at once', async ({
  page,
  context,
  testSystem,
}) => {
  const form = await openNewProject(page, testSystem.testEnvironment.teamSlug)
  await form.getByLabel('Name').fill(unique('Offline '))
  await context.setOffline(true)
  await form.getByRole('button', { name: 'Create project' }).click()
  await expect(form.getByRole('alert')).toHaveText('Could not reach the server. Check your connection and try again.')
  await context.setOffline(false)
  // Nothing is sent automatically when the network returns.
  await expect(page.locator('[data-live]')).toHaveAttribute('data-live', 'live')
  await expect(form.getByRole('alert')).toHaveText('Could not reach the server. Check your connection and try again.')
  await form.getByRole('button', { name: 'Create project' }).click()
  await page.waitForURL(/\/projects\/[0-9a-f-]{36}$/)
})

test('a form that is opened again shows no values and no errors of the previous time', async ({ page, context }) => {
  await page.goto('/auth/settings/tokens')
  const form = page.getByRole('dialog', { name: 'New token' })
  const open = () => page.getByRole('button', { name: 'New token' }).first().click()
  await open()
  await form.getByLabel('Name').fill(unique('Again '))
  await context.setOffline(true)
  await form.getByRole('button', { name: 'Create token' }).click()
  await expect(form.getByRole('alert')).toHaveText('Could not reach the server. Check your connection and try again.')
  await context.setOffline(false)
  await form.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
  await expect(form).toBeHidden()
  await open()
  await expect(form.getByLabel('Name')).toHaveValue('')
  await expect(form.getByRole('alert')).toHaveCount(0)
})

test('a form that is submitted twice in one moment is sent once', async ({ page, testSystem }) => {
  const form = await openNewProject(page, testSystem.testEnvironment.teamSlug)
  await form.getByLabel('Name').fill(unique('Once '))
  const sent: string[] = []
  page.on('request', (request) => request.method() === 'POST' && sent.push(new URL(request.url()).pathname))
  await form
    .getByRole('button', { name: 'Create project' })
    .evaluate((button: { click: () => void }) => [button, button].map((one) => one.click()))
  await page.waitForURL(/\/projects\/[0-9a-f-]{36}$/)
  expect(sent).toEqual([`/api/${testSystem.testEnvironment.teamSlug}/projects`])
})

test('the focus returns to the element that opened a layer, moves on from a deleted row, and moves into the next page', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const service = await createService(testEnvironment, [{ name: unique('focus/i'), tag: '1', image: idle() }])
  const prefix = unique('focus')
  for (const one of ['a', 'b']) {
    const rolling = await createService(testEnvironment, [{ name: unique('focus/i'), tag: '1', image: idle() }])
    await createDeployment(testEnvironment, rolling, `${prefix}${one}`)
  }
  await page.goto(`/${testEnvironment.teamSlug}/deployments?filter=${prefix}`)
  const actions = page.getByRole('row', { name: new RegExp(prefix) }).getByRole('button', { name: 'More actions' })
  await expect(actions).toHaveCount(2)
  const askToDelete = async () => {
    await actions.first().focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Delete' }).press('Enter')
    await expect(page.getByRole('dialog')).toBeVisible()
  }
  await askToDelete()
  await page.keyboard.press('Escape')
  await expect(actions.first()).toBeFocused()
  await askToDelete()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: false }).last().press('Enter')
  await expect(actions).toHaveCount(1)
  await expect(actions).toBeFocused()

  await page.goto(`/${testEnvironment.teamSlug}/projects/${service.projectId}`)
  await page.getByRole('table', { name: 'Images' }).getByRole('link').first().press('Enter')
  await page.waitForURL(/container-configurations/)
  await expect(page.getByRole('main')).toBeFocused()
})

test('the credentials for one type of registry are empty after the type is changed, and other fields are kept', async ({
  page,
  testSystem,
}) => {
  await page.goto(`/${testSystem.testEnvironment.teamSlug}/registries#new`)
  const form = page.getByRole('dialog', { name: 'New registry' })
  await form.getByRole('radio', { name: 'GitHub' }).click()
  await form.getByLabel('Name of the organization or user').fill('acme')
  await form.getByLabel('User', { exact: true }).fill('ada')
  await form.getByLabel('Access token').fill('ghp_secret')
  await form.getByRole('radio', { name: 'GitLab' }).click()
  await expect(form.getByLabel('User', { exact: true })).toHaveValue('')
  await expect(form.getByLabel('Access token')).toHaveValue('')
  await expect(form.getByLabel('Path of the group or project')).toHaveValue('acme')
})
