import type { Page } from '@playwright/test'
import { buildFixture, type Fixture } from '../kit/fixture.ts'
import { expect, test } from '../kit/journey.ts'
import { answerMachines, fiveHundred } from '../kit/machine-shots.ts'

let fixture: Fixture
test.beforeAll(async ({ testSystem }) => {
  test.setTimeout(180_000)
  fixture = await buildFixture(testSystem.testEnvironment)
})

/** Opens the machines of a node as if it were a cluster of 500. @returns the queries that the page has sent */
async function open(page: Page): Promise<string[]> {
  const queries: string[] = []
  await answerMachines(page, fixture.node, (url) => {
    queries.push(new URL(url).search)
    return fiveHundred(url)
  })
  await page.goto(`/${fixture.team}/nodes/${fixture.node}?section=machines`)
  await expect(names(page)).toHaveCount(50)
  return queries
}
const table = (page: Page) => page.getByRole('table', { name: 'Machines' })
const names = (page: Page) => table(page).locator('tbody tr')
const pages = (page: Page) => page.getByRole('navigation', { name: 'Pages' })

test('the machines of a large cluster are read page by page', async ({ page }) => {
  const queries = await open(page)
  await expect(pages(page)).toContainText('1-50 of 500')
  await expect(names(page).first()).toContainText('pool-a-worker-417')
  await pages(page).getByRole('button', { name: 'Next page' }).click()
  await expect(pages(page)).toContainText('51-100 of 500')
  await expect(names(page).first()).toContainText('pool-a-worker-1047')
  await pages(page).getByRole('button', { name: 'Last page' }).click()
  await expect(pages(page)).toContainText('451-500 of 500')
  await pages(page).getByRole('combobox').selectOption('250')
  await expect(pages(page)).toContainText('1-250 of 500')
  await expect(names(page).first()).toContainText('pool-a-worker-417')
  expect(queries.every((query) => /skip=\d+&take=(50|250)$/.test(query))).toBe(true)
})

test('a machine of a large cluster is found by its name, from any page', async ({ page }) => {
  await open(page)
  await pages(page).getByRole('button', { name: 'Last page' }).click()
  await expect(pages(page)).toContainText('451-500 of 500')
  const search = page.getByRole('searchbox', { name: 'Filter by name' })
  await search.fill('worker-1234.')
  await expect(names(page)).toHaveCount(1)
  await expect(names(page)).toContainText('pool-a-worker-1234')
  // The totals are those of the whole cluster.
  await expect(page.getByText('499 of 500')).toBeVisible()
  await search.fill('no such machine')
  await expect(table(page)).toHaveCount(0)
  await page.getByRole('button', { name: 'Show all' }).click()
  await expect(search).toHaveValue('')
  await expect(names(page)).toHaveCount(50)
})
