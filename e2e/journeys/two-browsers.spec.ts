import { createService, idle, setTag, unique } from '@crux/test-kit'
import type { BrowserContext, Page } from '@playwright/test'
import { addImage, showSetting } from '../kit/console.ts'
import { expect, test } from '../kit/journey.ts'

let second: BrowserContext
let other: Page
test.beforeEach(async ({ browser, session, baseURL }) => {
  second = await browser.newContext({ storageState: session, baseURL, viewport: { width: 1440, height: 860 } })
  other = await second.newPage()
})
test.afterEach(() => second.close())

const saved = (page: Page) => expect(page.locator('[data-save=saved]')).toBeVisible()
const environment = (page: Page) => page.getByRole('region', { name: 'Environment' })
const valueIn = (page: Page, key: string) => page.getByLabel(`Value of ${key}`)

async function addVariable(page: Page, key: string, value: string) {
  await showSetting(page, 'Environment')
  await environment(page).getByRole('button', { name: 'Add', exact: true }).click()
  await environment(page).getByLabel('Key', { exact: true }).last().fill(key)
  await environment(page).getByLabel('Key', { exact: true }).last().blur()
  await valueIn(page, key).fill(value)
  await valueIn(page, key).blur()
}

test('images and tags that one browser changes appear in the other, and both see who is there', async ({
  page,
  stage,
}) => {
  const { world } = stage
  const service = await createService(world, [{ name: `pair/${unique('a')}`, tag: '1', image: idle() }])
  const added = `pair/${unique('b')}`
  await stage.registry.push(added, '7.0.0', idle())
  const address = `/${world.teamSlug}/projects/${service.projectId}`
  await page.goto(address)
  await other.goto(address)
  const badges = 'On this page now: Ada Lovelace, Ada Lovelace'
  await expect(page.getByRole('img', { name: badges })).toBeVisible()
  await expect(other.getByRole('img', { name: badges })).toBeVisible()

  await addImage(page, /^registry-/, added)
  await expect(other.getByRole('row', { name: added })).toBeVisible()

  await other.getByRole('row', { name: added }).getByRole('button', { name: 'Choose a tag' }).click()
  await other.getByRole('dialog').getByRole('button', { name: '7.0.0' }).click()
  await expect(page.getByRole('row', { name: added }).getByText('7.0.0')).toBeVisible()

  // Also what a script changes over the API.
  await setTag(world, service, 0, '2')
  await expect(page.getByRole('row', { name: 'pair/a' }).getByText('2', { exact: true })).toBeVisible()

  await second.close()
  await expect(page.getByRole('img', { name: badges })).toBeHidden()
})

test('two browsers in one configuration lose nothing of each other', async ({ page, stage }) => {
  const { world } = stage
  const service = await createService(world, [{ name: `both/${unique('a')}`, tag: '1', image: idle() }])
  const { client } = world.person
  const params = { teamSlug: world.teamSlug, projectId: service.projectId, versionId: service.versionId }
  const version = await client.call('versions.get', { params })
  const configId = version.images[0]?.config.id ?? ''
  const address = `/${world.teamSlug}/container-configurations/${configId}`
  // Neither waits until its channel stands.
  await page.goto(address)
  await addVariable(page, 'LEFT', 'from the first')
  await other.goto(address)
  await showSetting(other, 'Environment')
  await environment(other).getByRole('button', { name: 'Add', exact: true }).click()
  await valueIn(other, 'Key').fill('from the second')
  await environment(other).getByLabel('Key', { exact: true }).last().fill('RIGHT')
  await environment(other).getByLabel('Key', { exact: true }).last().blur()
  await saved(page)
  await saved(other)
  await expect(valueIn(page, 'RIGHT')).toHaveValue('from the second')
  await expect(valueIn(other, 'LEFT')).toHaveValue('from the first')

  // The other browser sees where somebody types.
  await valueIn(page, 'LEFT').focus()
  await expect(valueIn(other, 'LEFT')).toHaveCSS('outline-style', 'solid')
  await valueIn(page, 'LEFT').blur()

  const stored = await client.call('container-configurations.get', { params: { teamSlug: world.teamSlug, configId } })
  expect(stored.environment?.map(({ key, value }) => [key, value])).toEqual(
    expect.arrayContaining([
      ['LEFT', 'from the first'],
      ['RIGHT', 'from the second'],
    ]),
  )
})

test('who leaves a configuration right after typing loses nothing', async ({ page, stage }) => {
  const { world } = stage
  const service = await createService(world, [{ name: `left/${unique('a')}`, tag: '1', image: idle() }])
  const { client } = world.person
  const params = { teamSlug: world.teamSlug, projectId: service.projectId, versionId: service.versionId }
  const configId = (await client.call('versions.get', { params })).images[0]?.config.id ?? ''
  await page.goto(`/${world.teamSlug}/container-configurations/${configId}`)
  await addVariable(page, 'LAST', 'word')
  await page.getByRole('link', { name: 'Nodes' }).click()
  await expect(page.getByRole('heading', { name: 'Nodes' })).toBeVisible()
  await expect
    .poll(async () => {
      const stored = await client.call('container-configurations.get', {
        params: { teamSlug: world.teamSlug, configId },
      })
      return stored.environment?.map(({ key, value }) => `${key}=${value}`)
    })
    .toEqual(['LAST=word'])
})

test('a value that somebody else changed meanwhile is shown beside the own one, and the person chooses', async ({
  page,
  stage,
}) => {
  const { world } = stage
  const service = await createService(world, [
    {
      name: `same/${unique('a')}`,
      tag: '1',
      image: idle(),
      config: { environment: [{ id: crypto.randomUUID(), key: 'LEVEL', value: 'info' }] },
    },
  ])
  const { client } = world.person
  const params = { teamSlug: world.teamSlug, projectId: service.projectId, versionId: service.versionId }
  const version = await client.call('versions.get', { params })
  const configId = version.images[0]?.config.id ?? ''
  const address = `/${world.teamSlug}/container-configurations/${configId}`
  // The first browser hears late of what the second does, as over a slow line.
  let late = true
  await page.routeWebSocket(/\/api/, (socket) => {
    const server = socket.connectToServer()
    server.onMessage((message) => {
      if (!(late && String(message).includes('config-updated'))) socket.send(message)
    })
  })
  await page.goto(address)
  await other.goto(address)
  await valueIn(other, 'LEVEL').fill('debug')
  await valueIn(other, 'LEVEL').blur()
  await expect
    .poll(async () => {
      const stored = await client.call('container-configurations.get', {
        params: { teamSlug: world.teamSlug, configId },
      })
      return stored.environment?.[0]?.value
    })
    .toBe('debug')

  await expect(valueIn(page, 'LEVEL')).toHaveValue('info')
  await valueIn(page, 'LEVEL').fill('warn')
  await valueIn(page, 'LEVEL').blur()
  const conflict = page.getByRole('alert').filter({ hasText: 'was changed by somebody else meanwhile' })
  await expect(conflict).toContainText('warn')
  await expect(conflict).toContainText('debug')
  late = false
  await conflict.getByRole('button', { name: 'Keep mine' }).click()
  await expect(conflict).toBeHidden()
  await saved(page)
  await expect(valueIn(other, 'LEVEL')).toHaveValue('warn')
})
