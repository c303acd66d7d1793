import type { System } from '@crux/dev-env'
import type { Page } from '@playwright/test'
import { signUpInBrowser } from '../kit/console.ts'
import { startEventsReceiver } from '../kit/events-receiver.ts'
import { test as base, expect, startSystem } from '../kit/test-system.ts'

type Receiver = Awaited<ReturnType<typeof startEventsReceiver>>

/** An installation whose analytics are a receiver of ours. */
const test = base.extend<Record<never, never>, { installation: { system: System; receiver: Receiver } }>({
  installation: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads the names of fixtures from this pattern.
    async ({}, use) => {
      const receiver = await startEventsReceiver()
      const system = await startSystem({ env: { ANALYTICS_KEY: 'phc_test', ANALYTICS_HOST: receiver.url } })
      await use({ system, receiver })
      await system.stop()
      await system.destroy()
      await receiver.stop()
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  baseURL: ({ installation }, use) => use(installation.system.url),
})

const usage = (page: Page) => page.getByRole('switch', { name: /^Usage statistics/ })
/** The chunks of the console that hold the library and what uses it. */
const usageChunk = /\/assets\/(sender|usage)-/

test('usage statistics are sent only after the opt-in, without ids, titles or values, and end with the opt-out', async ({
  page,
  installation,
}) => {
  const { system, receiver } = installation
  const chunks: string[] = []
  page.on('request', (request) => void (usageChunk.test(request.url()) && chunks.push(request.url())))
  const { teamSlug } = await signUpInBrowser(page, system.url, { teamName: 'Secret team' })
  await page.goto(`/${teamSlug}/projects?filter=secret`)
  await page.goto('/auth/settings')
  await expect(usage(page)).not.toBeChecked()
  expect([chunks, receiver.paths]).toEqual([[], []])

  await usage(page).click()
  await expect(usage(page)).toBeChecked()
  await expect.poll(() => receiver.events.length).toBe(1)
  // The consent outlives the page; the visitor does not.
  await page.goto(`/${teamSlug}/projects?filter=secret`)
  await expect.poll(() => receiver.events.length).toBe(2)
  await page.getByRole('button', { name: 'New project' }).first().click()
  await page.getByLabel('Name', { exact: true }).fill('Secret project')
  await page.getByRole('button', { name: 'Create project' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Secret project' })).toBeVisible()
  await expect.poll(() => receiver.events.length).toBe(4)
  await page.evaluate(() => {
    void Promise.reject(new TypeError('a value of the user'))
  })
  await expect.poll(() => receiver.events.length).toBe(5)

  const team = { $groups: { team: expect.stringMatching(/^[0-9a-f-]{36}$/) } }
  const sent = receiver.events.map(({ event, properties }) => {
    const { token, distinct_id, $process_person_profile, $geoip_disable, ...own } = properties
    expect([token, typeof distinct_id, $process_person_profile, $geoip_disable]).toEqual([
      'phc_test',
      'string',
      false,
      true,
    ])
    return [event, own]
  })
  expect(sent.sort()).toEqual(
    [
      ['$pageview', { $pathname: '/auth/settings' }],
      ['$pageview', { $pathname: '/$teamSlug/projects', ...team }],
      ['project created', { $pathname: '/$teamSlug/projects', ...team }],
      ['$pageview', { $pathname: '/$teamSlug/projects/$projectId', ...team }],
      [
        '$exception',
        {
          $pathname: '/$teamSlug/projects/$projectId',
          $exception_list: [{ type: 'TypeError', value: '' }],
          code: null,
          ...team,
        },
      ],
    ].sort(),
  )
  for (const each of receiver.events)
    expect(Object.keys(each).sort()).toEqual(['event', 'properties', 'timestamp', 'uuid'])
  for (const envelope of receiver.envelopes)
    expect(envelope).toEqual({ api_key: 'phc_test', sent_at: expect.any(String) })
  // Ids of events, visitors and teams are random, and may contain "ada".
  const texts = JSON.stringify(receiver.events).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '')
  expect(texts).not.toMatch(/secret|ada|example\.com|localhost|value of the user/i)
  expect(new Set(receiver.events.map(({ properties }) => properties.distinct_id)).size).toBe(2)
  expect([...new Set(receiver.paths)]).toEqual(['/e/'])

  await page.goto('/auth/settings')
  await expect.poll(() => receiver.events.length).toBe(6)
  await usage(page).click()
  await expect(usage(page)).not.toBeChecked()
  const requests = receiver.paths.length
  await page
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link', { name: /^Projects/ })
    .click()
  await expect(page.getByRole('heading', { level: 1, name: 'Projects' })).toBeVisible()
  const storage = await page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)])
  const stored = [...storage, ...(await page.context().cookies()).map(({ name }) => name)]
  expect(stored.filter((entry) => /ph_|posthog|usage/i.test(entry))).toEqual([])
  chunks.length = 0
  await page.reload()
  await expect(page.getByRole('heading', { level: 1, name: 'Projects' })).toBeVisible()
  expect([chunks, receiver.paths.length]).toEqual([[], requests])
})

test('usage statistics that the analytics refused are not repeated after the opt-out', async ({
  page,
  installation,
}) => {
  const { system, receiver } = installation
  await page.clock.install()
  await signUpInBrowser(page, system.url)
  await page.goto('/auth/settings')
  receiver.answerWith(500)
  const before = receiver.paths.length
  await usage(page).click()
  await expect.poll(() => receiver.paths.length).toBe(before + 1)
  await page.clock.runFor(60_000)
  await expect.poll(() => receiver.paths.length).toBeGreaterThan(before + 1)
  await usage(page).click()
  await expect(usage(page)).not.toBeChecked()
  // What was under way has arrived.
  await page.waitForLoadState('networkidle')
  const requests = receiver.paths.length
  await page.clock.runFor(3_600_000)
  await page.waitForLoadState('networkidle')
  expect(receiver.paths.length).toBe(requests)
  receiver.answerWith(200)
})

test('usage statistics stay off in a browser that asks not to be tracked', async ({ page, installation }) => {
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })
    // A consent from before the user changed the browser's setting.
    localStorage.setItem('crux-usage:x', 'yes')
  })
  const chunks: string[] = []
  page.on('request', (request) => void (usageChunk.test(request.url()) && chunks.push(request.url())))
  await signUpInBrowser(page, installation.system.url)
  await page.goto('/auth/settings')
  await expect(usage(page)).toBeDisabled()
  await expect(page.getByText('Your browser asks sites not to track you, so nothing is sent.')).toBeVisible()
  expect(chunks).toEqual([])
})

test('usage statistics are not offered without a key', async ({ page, testSystem }) => {
  await signUpInBrowser(page, testSystem.system.url)
  await page.goto(`${testSystem.system.url}/auth/settings`)
  await expect(page.getByRole('switch')).toHaveCount(1)
  await expect(usage(page)).toBeHidden()
})
