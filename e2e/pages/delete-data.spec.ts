import { fileURLToPath } from 'node:url'
import type { DeletedPrefixData, PrefixData, ResponseOf } from '@crux/contract'
import type { Page } from '@playwright/test'
import { buildFixture, type Fixture } from '../kit/fixture.ts'
import { expect, test } from '../kit/journey.ts'

const directory = fileURLToPath(new URL('../screenshots/', import.meta.url))
const toClaim = (name: string, size: string) => ({
  name,
  uid: `uid-${name}`,
  volumeName: `pvc-0a1b2c3d-${name}`,
  size,
  storageClass: 'standard',
  phase: 'Bound',
  createdAt: '2026-11-01T00:00:00Z',
})
const claims = [toClaim('web-data', '10Gi'), toClaim('web-cache', '512Mi')]
const keys = claims.map(({ name, uid }) => ({ name, uid }))
const own: PrefixData = { claims, namespace: { exists: true, reason: null, foreignObjects: [] } }

let fixture: Fixture
let prefix: string
/** What the page sends that changes something, in order. */
let sent: { path: string; body: unknown }[]
test.beforeAll(async ({ testSystem }) => {
  test.setTimeout(180_000)
  fixture = await buildFixture(testSystem.testEnvironment)
})
test.beforeEach(() => {
  sent = []
})

const dialog = (page: Page) => page.getByRole('dialog')
const box = (page: Page, name: string) => dialog(page).getByRole('checkbox', { name: new RegExp(`^${name}`) })
const button = (page: Page, name: string) => dialog(page).getByRole('button', { name, exact: true })

/** Opens the question about a deployment as if its node were a cluster. Nothing is deleted: the answers are prepared. */
async function ask(
  page: Page,
  {
    data = own,
    results = [],
    type = 'k8s',
    until,
  }: {
    data?: PrefixData | number
    results?: DeletedPrefixData[]
    type?: 'k8s' | 'docker'
    /** The deletion of data ends then. */
    until?: Promise<void>
  },
) {
  const id = fixture.deployment.failed
  const record = (path: string, toJson?: () => unknown) =>
    page.route(new RegExp(`/api/[^/]+/${path}`), async (route) => {
      if (route.request().method() === 'GET') return route.fallback()
      sent.push({ path, body: route.request().postDataJSON() })
      if (toJson) await until
      const json = toJson?.()
      return json === undefined ? route.fulfill({ status: 204 }) : route.fulfill({ json })
    })
  await page.route(new RegExp(`/api/[^/]+/deployments/${id}$`), async (route) => {
    const response = await route.fetch()
    const body: ResponseOf<'deployments.get'> = await response.json()
    prefix = body.prefix
    await route.fulfill({ response, json: { ...body, node: { ...body.node, type } } })
  })
  await page.route(/\/api\/[^/]+\/nodes\/[^/]+\/[^/]+\/data$/, (route) =>
    typeof data === 'number'
      ? route.fulfill({
          status: data,
          json: { error: 'preconditionFailed', property: 'agent', description: 'The node is not connected.' },
        })
      : route.fulfill({ json: data }),
  )
  await record(`deployments/${id}\\?containers=true`)
  await record('nodes/[^/]+/[^/]+/containers$')
  await record('nodes/[^/]+/[^/]+/data/delete$', () => results.shift())
  await page.goto(`/${fixture.team}/deployments/${id}`)
  await page.getByRole('button', { name: 'More actions' }).first().click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await box(page, 'Also remove the containers').click()
}

async function takePictures(page: Page, name: string) {
  for (const theme of ['light', 'dark'] as const)
    for (const width of [1440, 375]) {
      await page.setViewportSize({ width, height: width === 375 ? 812 : 900 })
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await expect(page.locator(`html[data-theme=${theme}]`)).toBeVisible()
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      await page.screenshot({ path: `${directory}delete-data-${name}-${theme}-${width}.png`, animations: 'disabled' })
    }
  await page.setViewportSize({ width: 1440, height: 900 })
}

test('keeps the data of a prefix unless claims, then the namespace, are chosen and the prefix is typed', async ({
  page,
}) => {
  await ask(page, {
    results: [{ claims: keys.map((key) => ({ ...key, state: 'deleted' })), namespace: { state: 'deleted' } }],
  })
  await expect(dialog(page).getByText('10Gi · standard · Bound')).toBeVisible()
  const namespace = box(page, `Namespace ${prefix}`)
  for (const { name } of claims) await expect(box(page, `Claim ${name}`)).not.toBeChecked()
  await expect(namespace).toBeDisabled()
  await expect(dialog(page).getByText('Only with all of its claims.')).toBeVisible()
  await expect(button(page, 'Delete with containers')).toBeEnabled()
  await takePictures(page, 'choice')
  await box(page, 'Claim web-data').press('Space')
  await expect(namespace).toBeDisabled()
  await box(page, 'Claim web-cache').press('Space')
  await namespace.click()
  await expect(namespace).toBeChecked()
  await box(page, 'Claim web-cache').click()
  await expect(namespace).not.toBeChecked()
  await box(page, 'Claim web-cache').click()
  await namespace.click()
  await expect(button(page, 'Delete with data')).toHaveAttribute('aria-disabled', 'true')
  await button(page, 'Delete with data').press('Enter')
  expect(sent).toEqual([])
  await dialog(page).getByLabel(`Type ${prefix} to confirm`).fill(prefix)
  await takePictures(page, 'typed')
  await button(page, 'Delete with data').click()
  await expect(dialog(page)).toHaveCount(0)
  expect(sent.map(({ path }) => path.split(/[?\\]/)[0])).toEqual([
    'nodes/[^/]+/[^/]+/containers$',
    'nodes/[^/]+/[^/]+/data/delete$',
    `deployments/${fixture.deployment.failed}`,
  ])
  expect(sent[1]?.body).toEqual({ claims: keys, namespace: true })
})

test('says what is being deleted, and cannot be closed before its result is there', async ({ page }) => {
  const { promise: until, resolve: end } = Promise.withResolvers<void>()
  const deleted = { claims: keys.slice(0, 1).map((key) => ({ ...key, state: 'deleted' as const })), namespace: null }
  await ask(page, { results: [deleted], until })
  await box(page, 'Claim web-data').click()
  await dialog(page).getByLabel(`Type ${prefix} to confirm`).fill(prefix)
  await button(page, 'Delete with data').click()
  await expect(dialog(page).getByRole('status')).toContainText(`Deleting the data of ${prefix}`)
  await takePictures(page, 'running')
  await expect(button(page, 'Cancel')).toHaveAttribute('aria-disabled', 'true')
  await expect(box(page, 'Claim web-data')).toBeDisabled()
  await page.keyboard.press('Escape')
  await expect(dialog(page)).toBeVisible()
  end()
  await expect(dialog(page)).toHaveCount(0)
  expect(sent.at(-1)?.path).toContain(fixture.deployment.failed)
})

test('says what could not be deleted and why, keeps the deployment, and tries again', async ({ page }) => {
  const kept: DeletedPrefixData = {
    claims: [
      { name: 'web-data', uid: 'uid-web-data', state: 'kept', reason: 'the claim web-data is used by the pod backup' },
    ],
    namespace: null,
  }
  await ask(page, { results: [kept, kept] })
  await box(page, 'Claim web-data').click()
  await dialog(page).getByLabel(`Type ${prefix} to confirm`).fill(prefix)
  await button(page, 'Delete with data').click()
  await expect(dialog(page).getByRole('alert')).toContainText('Claim web-data: not deleted')
  await expect(dialog(page).getByRole('alert')).toContainText('is used by the pod backup')
  await takePictures(page, 'kept')
  await button(page, 'Try again').click()
  await expect.poll(() => sent.length).toBe(4)
  expect(sent.filter(({ path }) => path.startsWith('deployments/'))).toEqual([])
  await button(page, 'Delete, keep the rest').click()
  await expect(dialog(page)).toHaveCount(0)
  expect(sent.at(-1)?.path).toContain(fixture.deployment.failed)
})

test('shows what stays, without boxes and with the reason, to those who may not delete it', async ({ page }) => {
  await page.route(/\/api\/users\/me$/, async (route) => {
    const response = await route.fetch()
    const body: ResponseOf<'users.me'> = await response.json()
    await route.fulfill({ response, json: { ...body, teams: body.teams.map((team) => ({ ...team, role: 'user' })) } })
  })
  await ask(page, {})
  await expect(dialog(page).getByText('Claim web-data')).toBeVisible()
  await expect(dialog(page).getByText(/^It stays: .*admin/i)).toBeVisible()
  await expect(dialog(page).getByRole('checkbox')).toHaveCount(1)
  await expect(button(page, 'Delete with containers')).toBeEnabled()
  await takePictures(page, 'user')
})

test('says why a namespace stays, and asks nothing where nothing of Crux stays', async ({ page }) => {
  const foreignObjects = [{ kind: 'Service', name: 'theirs' }]
  await ask(page, { data: { claims: [], namespace: { exists: true, reason: null, foreignObjects } } })
  await expect(dialog(page).getByText('it has objects that Crux did not make (Service theirs)')).toBeVisible()
  await expect(box(page, `Namespace ${prefix}`)).toBeDisabled()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await ask(page, { data: { claims: [], namespace: { exists: true, reason: 'of others', foreignObjects: [] } } })
  await expect(dialog(page).getByRole('checkbox')).toHaveCount(1)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await ask(page, { type: 'docker', data: 500 })
  await expect(dialog(page).getByRole('checkbox')).toHaveCount(1)
  await expect(dialog(page).getByText('Volume data stays on')).toBeVisible()
})

test('says why it is not known what stays, and deletes the containers all the same', async ({ page }) => {
  await ask(page, { data: 412 })
  await expect(dialog(page).getByRole('alert')).toContainText(`What stays in ${prefix} is not known`)
  await expect(dialog(page).getByRole('alert')).toContainText('The node is not connected.')
  await takePictures(page, 'unknown')
  await button(page, 'Delete with containers').click()
  await expect(dialog(page)).toHaveCount(0)
  expect(sent).toHaveLength(1)
})
