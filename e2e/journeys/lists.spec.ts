import { createDeployment, createService, idle, type TestEnvironment, unique } from '@crux/test-kit'
import { expect, test } from '../kit/journey.ts'

async function prepareDeployment(testEnvironment: TestEnvironment, name = unique('List ')) {
  const service = await createService(testEnvironment, [{ name: unique('list/i'), tag: '1', image: idle() }], { name })
  return createDeployment(testEnvironment, service, unique('list'))
}

test('a filter that is being typed and a choice that is made meanwhile both hold', async ({ page, stage }) => {
  const { testEnvironment } = stage
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

test('a page behind the end of a list leads to the last one there is', async ({ page, stage }) => {
  const { testEnvironment } = stage
  await prepareDeployment(testEnvironment)
  await page.goto(`/${testEnvironment.teamSlug}/deployments?skip=500&take=5`)
  await page.waitForURL((url) => url.searchParams.get('skip') !== '500')
  await expect(page.getByRole('table').getByRole('row').nth(1)).toBeVisible()
})

test('a day is typed digit by digit, and the other end of the range stays', async ({ page, stage }) => {
  await page.goto(
    `/${stage.testEnvironment.teamSlug}/audit-log?from=2026-03-02T00:00:00.000Z&to=2026-03-20T23:59:59.999Z`,
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

test('what cannot be read again stays, and says from when it is', async ({ page, stage }) => {
  const { testEnvironment } = stage
  const name = unique('Stale ')
  await prepareDeployment(testEnvironment, name)
  await page.clock.install()
  await page.goto(`/${testEnvironment.teamSlug}/deployments`)
  await expect(page.getByRole('row', { name })).toBeVisible()
  let broken = true
  await page.route(/\/api\/.*\/deployments\?/, (route) =>
    broken ? route.fulfill({ status: 500, json: { error: 'internalError', description: 'x' } }) : route.fallback(),
  )
  // The list is read again every 15 seconds.
  await page.clock.fastForward(16_000)
  await expect(page.getByText('Could not refresh.')).toBeVisible()
  await expect(page.getByRole('row', { name })).toBeVisible()
  broken = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByText('Could not refresh.')).toBeHidden()
})

test('what can be done with a row stays in sight where the table is wider than the window', async ({ page, stage }) => {
  const { testEnvironment } = stage
  const name = `${unique('Wide ')} ${'x'.repeat(45)}`
  await prepareDeployment(testEnvironment, name)
  await page.setViewportSize({ width: 800, height: 700 })
  await page.goto(`/${testEnvironment.teamSlug}/deployments`)
  const actions = page.getByRole('row', { name }).getByRole('button', { name: 'More actions' })
  await expect(actions).toBeInViewport({ ratio: 1 })
  // The table scrolls in its place, and the page does not.
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(800)
})
