import { createDeployment, createService, deploy, idle, unique } from '@crux/test-kit'
import type { Locator } from '@playwright/test'
import { expect, test } from '../kit/journey.ts'
import { prepareStartProblems, type StartProblems } from '../kit/start-problems.ts'

const getBox = async (what: Locator) => (await what.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
/** The height of the bar at the top of every page. */
const barHeight = 48

test.describe('a configuration in a low window', () => {
  let problems: StartProblems
  test.beforeAll(async ({ testSystem }) => {
    problems = await prepareStartProblems(testSystem.testEnvironment)
  })
  test.afterAll(() => problems.end())

  test('keeps the list of settings and the summary completely visible beside the form, at every scroll position', async ({
    page,
    testSystem,
  }) => {
    const height = 460
    await page.setViewportSize({ width: 1440, height })
    await page.goto(`/${testSystem.testEnvironment.teamSlug}/container-configurations/${problems.configIds.shop}`)
    const settings = page.getByRole('navigation', { name: 'Settings' })
    const summary = page.getByRole('region', { name: 'Before you deploy' })
    const find = page.getByRole('searchbox', { name: 'Find a setting' })
    await expect(summary.getByRole('heading', { name: 'Fix 6 problems to deploy' })).toBeVisible()

    await page.getByRole('main').evaluate((main) => main.scrollIntoView({ block: 'end' }))
    await expect.poll(async () => (await getBox(find)).y).toBeGreaterThan(barHeight)
    expect((await getBox(summary)).y).toBeGreaterThan(barHeight)
    const list = await getBox(settings)
    expect(list.y + list.height).toBeLessThanOrEqual(height)

    // The last setting is reached by scrolling the list, and the search above it stays.
    const last = settings.getByRole('button').last()
    await last.scrollIntoViewIfNeeded()
    const { y, height: own } = await getBox(last)
    expect(y + own).toBeLessThanOrEqual(list.y + list.height)
    expect((await getBox(find)).y).toBeGreaterThan(barHeight)

    const lastProblem = summary.getByRole('link', { name: 'Open the field' }).last()
    await lastProblem.scrollIntoViewIfNeeded()
    await expect(lastProblem).toBeInViewport({ ratio: 1 })
  })
})

test.describe('a phone', () => {
  test.use({ viewport: { width: 375, height: 812 } })

  test("shows a long failure reason collapsed, and completely with the engine's error on request", async ({
    page,
    testSystem,
  }) => {
    const { testEnvironment } = testSystem
    const program = `/opt/${'a-long-directory-name/'.repeat(12)}serve`
    const config = { name: 'web', commands: [{ key: program }] }
    const service = await createService(testEnvironment, [{ name: unique('long/i-'), tag: '1', image: idle(), config }])
    const { id } = await createDeployment(testEnvironment, service, unique('long'))
    expect((await deploy(testEnvironment, id)).status).toBe('failed')

    await page.goto(`/${testEnvironment.teamSlug}/deployments/${id}/deploy`)
    const result = page.getByRole('status', { name: 'Result' })
    const reason = result.getByText(`The image has no program ${program}: correct the command or the entrypoint.`)
    await expect(reason).toBeVisible()
    const folded = (await getBox(reason)).height
    await expect(result.getByRole('button', { name: 'Deploy again' })).toBeInViewport()
    await result.getByRole('button', { name: 'Show all' }).click()
    expect((await getBox(reason)).height).toBeGreaterThan(2 * folded)
    await result.getByText('Details').click()
    await expect(result.getByText('OCI runtime create failed')).toBeVisible()
    const { x, width } = await getBox(result)
    for (const part of [reason, result.getByText('OCI runtime create failed')]) {
      const box = await getBox(part)
      expect(box.x + box.width).toBeLessThanOrEqual(x + width)
    }
    await result.getByRole('button', { name: 'Show less' }).click()
    expect((await getBox(reason)).height).toBe(folded)
  })

  test('shows the tools above the log of a container in two rows', async ({ page, testSystem }) => {
    const { testEnvironment } = testSystem
    const service = await createService(testEnvironment, [
      { name: unique('tools/i-'), tag: '1', image: idle(), config: { name: 'web' } },
    ])
    const prefix = unique('tools')
    expect((await deploy(testEnvironment, (await createDeployment(testEnvironment, service, prefix)).id)).status).toBe(
      'successful',
    )
    await page.goto(`/${testEnvironment.teamSlug}/nodes/${testEnvironment.nodeId}/log?prefix=${prefix}&name=web`)
    await expect(page.getByText('ready')).toBeVisible()
    const getRow = async (what: Locator) => {
      const { y, height } = await getBox(what)
      return Math.round((y + height / 2) / 16)
    }
    const find = await getRow(page.getByRole('button', { name: 'Find in the log' }))
    expect(await getRow(page.getByRole('heading', { name: 'Log', exact: true }))).toBe(find)
    expect(await getRow(page.getByRole('link', { name: 'Download whole log' }))).toBe(find)
    const counts = page.getByRole('radiogroup', { name: 'Number of last lines' }).getByRole('radio')
    await expect(counts).toHaveText(['50', '500', '1K', '10K', '100K'])
    expect(await getRow(counts.last())).toBe(await getRow(counts.first()))
  })
})
