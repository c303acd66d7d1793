import { createDeployment, createService, idle, type TestEnvironment, unique } from '@crux/test-kit'
import { expect, test } from '../kit/journey.ts'

async function prepareDeployment(testEnvironment: TestEnvironment, name = unique('List ')) {
  const service = await createService(testEnvironment, [{ name: unique('list/i'), tag: '1', image: idle() }], { name })
  return createDeployment(testEnvironment, service, unique('list'))
}

test('a filter and a selection that are changed at the same time both apply', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  const name = unique('List ')
  await prepareDeployment(testEnvironment, name)
  await page.goto(`/${testEnvironment.teamSlug}/deployments`)
  const row = page.getByRole('row', { name })
  await expect(row).toBeVisible()
  await page.getByRole('searchbox').fill(name)
  await page.getByRole('radio', { name: 'Failed' }).click()
  await page.waitForURL(/status=failed.*filter=/)
  await expect(page.getByText('No matches')).toBeVisible()
  await page.getByRole('radio', { name: 'Preparing' }).click()
  await expect(row).toBeVisible()
  await expect(page.getByRole('searchbox')).toHaveValue(name)
})

test('a page number after the end of a list leads to the last page', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  await prepareDeployment(testEnvironment)
  await page.goto(`/${testEnvironment.teamSlug}/deployments?skip=500&take=5`)
  await page.waitForURL((url) => url.searchParams.get('skip') !== '500')
  await expect(page.getByRole('table').getByRole('row').nth(1)).toBeVisible()
})

test('a day is typed digit by digit, and the other end of the range stays', async ({ page, testSystem }) => {
  await page.goto(
    `/${testSystem.testEnvironment.teamSlug}/audit-log?from=2026-03-02T00:00:00.000Z&to=2026-03-20T23:59:59.999Z`,
  )
  const [first, last] = [page.getByLabel('First day'), page.getByLabel('Last day')]
  const before = await first.inputValue()
  await last.focus()
  await page.keyboard.type('03312026')
  await page.keyboard.press('Enter')
  await page.waitForURL(/to=2026-0(3-31|4-01)/)
  await expect(last).toHaveValue('2026-03-31')
  await expect(first).toHaveValue(before)
})

test('a list that cannot be refreshed stays, and shows when it was loaded', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  const name = unique('Stale ')
  await prepareDeployment(testEnvironment, name)
  await page.clock.install()
  await page.goto(`/${testEnvironment.teamSlug}/deployments`)
  await expect(page.getByRole('row', { name })).toBeVisible()
  let broken = true
  await page.route(/\/api\/.*\/deployments\?/, (route) =>
    broken ? route.fulfill({ status: 500, json: { error: 'internalError', description: 'x' } }) : route.fallback(),
  )
  // The list is refreshed every 15 seconds.
  await page.clock.fastForward(16_000)
  await expect(page.getByText('Could not refresh.')).toBeVisible()
  await expect(page.getByRole('row', { name })).toBeVisible()
  broken = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByText('Could not refresh.')).toBeHidden()
})

test('the actions of a row stay visible where the table is wider than the window', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  const name = `${unique('Wide ')} ${'x'.repeat(45)}`
  await prepareDeployment(testEnvironment, name)
  await page.setViewportSize({ width: 800, height: 700 })
  await page.goto(`/${testEnvironment.teamSlug}/deployments`)
  const actions = page.getByRole('row', { name }).getByRole('button', { name: 'More actions' })
  await expect(actions).toBeInViewport({ ratio: 1 })
  // The table scrolls inside the page, and the page does not scroll.
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(800)
})
