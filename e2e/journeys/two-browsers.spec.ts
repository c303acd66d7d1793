import { createDeployment, createService, idle, setTag, signUp, unique } from '@crux/test-kit'
import type { BrowserContext, Page } from '@playwright/test'
import { addImage, showSetting, signIn } from '../kit/console.ts'
import { expect, signedOut, test } from '../kit/journey.ts'

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

/** Types into the empty row that choosing an empty section adds. */
async function typeVariable(page: Page, key: string, value: string) {
  await environment(page).getByLabel('Key', { exact: true }).last().fill(key)
  await environment(page).getByLabel('Key', { exact: true }).last().blur()
  await valueIn(page, key).fill(value)
  await valueIn(page, key).blur()
}

test('images and tags that one browser changes appear in the other, and both show who is present', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const service = await createService(testEnvironment, [{ name: `pair/${unique('a')}`, tag: '1', image: idle() }])
  const added = `pair/${unique('b')}`
  await testSystem.registry.push(added, '7.0.0', idle())
  const address = `/${testEnvironment.teamSlug}/projects/${service.projectId}`
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

  // Changes that a script makes through the API appear too.
  await setTag(testEnvironment, service, 0, '2')
  await expect(page.getByRole('row', { name: 'pair/a' }).getByText('2', { exact: true })).toBeVisible()

  await second.close()
  await expect(page.getByRole('img', { name: badges })).toBeHidden()
})

test('two browsers that edit one configuration lose no changes of each other', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  const service = await createService(testEnvironment, [{ name: `both/${unique('a')}`, tag: '1', image: idle() }])
  const { client } = testEnvironment.user
  const params = { teamSlug: testEnvironment.teamSlug, projectId: service.projectId, versionId: service.versionId }
  const version = await client.call('versions.get', { params })
  const configId = version.images[0]?.config.id ?? ''
  const address = `/${testEnvironment.teamSlug}/container-configurations/${configId}`
  // Neither browser waits until its channel is connected.
  await page.goto(address)
  await showSetting(page, 'Environment')
  await typeVariable(page, 'LEFT', 'from the first')
  await other.goto(address)
  await showSetting(other, 'Environment')
  // If the first variable is not stored yet, choosing the empty section has added a row already: the new one is the last.
  await environment(other).getByRole('button', { name: 'Add', exact: true }).click()
  await valueIn(other, 'Key').last().fill('from the second')
  await environment(other).getByLabel('Key', { exact: true }).last().fill('RIGHT')
  await environment(other).getByLabel('Key', { exact: true }).last().blur()
  await saved(page)
  await saved(other)
  await expect(valueIn(page, 'RIGHT')).toHaveValue('from the second')
  await expect(valueIn(other, 'LEFT')).toHaveValue('from the first')

  // The other browser shows which field a user is editing.
  await valueIn(page, 'LEFT').focus()
  await expect(valueIn(other, 'LEFT')).toHaveCSS('outline-style', 'solid')
  await valueIn(page, 'LEFT').blur()

  const stored = await client.call('container-configurations.get', {
    params: { teamSlug: testEnvironment.teamSlug, configId },
  })
  expect(stored.environment?.map(({ key, value }) => [key, value])).toEqual(
    expect.arrayContaining([
      ['LEFT', 'from the first'],
      ['RIGHT', 'from the second'],
    ]),
  )
})

test('leaving a configuration right after typing loses nothing', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  const service = await createService(testEnvironment, [{ name: `left/${unique('a')}`, tag: '1', image: idle() }])
  const { client } = testEnvironment.user
  const params = { teamSlug: testEnvironment.teamSlug, projectId: service.projectId, versionId: service.versionId }
  const configId = (await client.call('versions.get', { params })).images[0]?.config.id ?? ''
  await page.goto(`/${testEnvironment.teamSlug}/container-configurations/${configId}`)
  await showSetting(page, 'Environment')
  await typeVariable(page, 'LAST', 'word')
  await page.getByRole('link', { name: 'Nodes' }).click()
  await expect(page.getByRole('heading', { name: 'Nodes', level: 1 })).toBeVisible()
  await expect
    .poll(async () => {
      const stored = await client.call('container-configurations.get', {
        params: { teamSlug: testEnvironment.teamSlug, configId },
      })
      return stored.environment?.map(({ key, value }) => `${key}=${value}`)
    })
    .toEqual(['LAST=word'])
})

test('a value that another user changed in the meantime is shown beside the own one, and the user chooses', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const service = await createService(testEnvironment, [
    {
      name: `same/${unique('a')}`,
      tag: '1',
      image: idle(),
      config: { environment: [{ id: crypto.randomUUID(), key: 'LEVEL', value: 'info' }] },
    },
  ])
  const { client } = testEnvironment.user
  const params = { teamSlug: testEnvironment.teamSlug, projectId: service.projectId, versionId: service.versionId }
  const version = await client.call('versions.get', { params })
  const configId = version.images[0]?.config.id ?? ''
  const address = `/${testEnvironment.teamSlug}/container-configurations/${configId}`
  // The first browser receives the changes of the second one late, as on a slow connection.
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
        params: { teamSlug: testEnvironment.teamSlug, configId },
      })
      return stored.environment?.[0]?.value
    })
    .toBe('debug')

  await expect(valueIn(page, 'LEVEL')).toHaveValue('info')
  await valueIn(page, 'LEVEL').fill('warn')
  await valueIn(page, 'LEVEL').blur()
  const conflict = page.getByRole('alert').filter({ hasText: 'was changed by someone else' })
  await expect(conflict).toContainText('warn')
  await expect(conflict).toContainText('debug')
  late = false
  await conflict.getByRole('button', { name: 'Keep mine' }).click()
  await expect(conflict).toBeHidden()
  await saved(page)
  await expect(valueIn(other, 'LEVEL')).toHaveValue('warn')
})

test('the other browser shows who is editing a switch, a select or a choice', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  const service = await createService(testEnvironment, [{ name: `where/${unique('a')}`, tag: '1', image: idle() }])
  const { client } = testEnvironment.user
  const params = { teamSlug: testEnvironment.teamSlug, projectId: service.projectId, versionId: service.versionId }
  const configId = (await client.call('versions.get', { params })).images[0]?.config.id ?? ''
  for (const one of [page, other]) {
    await one.goto(`/${testEnvironment.teamSlug}/container-configurations/${configId}?fields=all`)
    await expect(one.getByRole('region', { name: 'Metrics' })).toBeVisible()
  }
  await expect(page.getByRole('img', { name: 'On this page now: Ada Lovelace, Ada Lovelace' })).toBeVisible()
  const mark = (inputId: string) => other.locator(`[data-input="${inputId}"]`)
  for (const [inputId, control] of [
    ['tty', page.getByRole('switch', { name: 'Terminal' })],
    ['logConfig.driver', page.getByLabel('Driver', { exact: true })],
    ['restartPolicy', page.getByRole('radiogroup', { name: 'Restart policy' }).locator('[tabindex="0"]')],
    ['networkMode', page.getByRole('radiogroup', { name: 'Network mode' }).locator('[tabindex="0"]')],
    ['metrics.enabled', page.getByRole('region', { name: 'Metrics' }).getByRole('switch')],
  ] as const) {
    await control.focus()
    await expect(mark(inputId)).toHaveCSS('outline-style', 'solid')
  }
  await page.getByRole('searchbox', { name: 'Find a setting' }).first().focus()
  await expect(mark('metrics.enabled')).not.toHaveCSS('outline-style', 'solid')
  await expect(mark('tty')).not.toHaveCSS('outline-style', 'solid')
})

test('two users who set the same secret are informed about each other before one value is lost', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const service = await createService(testEnvironment, [
    {
      name: `seal/${unique('a')}`,
      tag: '1',
      image: idle(),
      config: { secrets: [{ id: crypto.randomUUID(), key: 'TOKEN', required: true }] },
    },
  ])
  const { id } = await createDeployment(testEnvironment, service, unique('seal'))
  const { client } = testEnvironment.user
  const params = { teamSlug: testEnvironment.teamSlug, deploymentId: id }
  const configId = (await client.call('deployments.get', { params })).instances[0]?.config.id ?? ''
  const value = async () =>
    (
      await client.call('container-configurations.get', { params: { teamSlug: testEnvironment.teamSlug, configId } })
    ).secrets?.find(({ key }) => key === 'TOKEN')?.value
  for (const one of [page, other]) {
    await one.goto(`/${testEnvironment.teamSlug}/container-configurations/${configId}`)
    await one.getByLabel('Secret value of TOKEN').fill(one === page ? 'first' : 'second')
  }
  const save = (one: Page) => one.getByRole('button', { name: 'Encrypt and save' }).click()
  const state = (one: Page) => one.locator('[data-part="secrets.TOKEN"]').locator('[data-state]')
  await save(other)
  await expect(state(other)).toHaveText('Encrypted')
  const theirs = await value()
  expect(theirs).toContain('PGP MESSAGE')

  // The page shows the change as soon as it knows it, and the server still refuses once.
  await expect(page.getByText('while you were typing')).toBeVisible()
  await save(page)
  await expect(page.getByText('so nothing was saved')).toBeVisible()
  expect(await value()).toBe(theirs)
  await save(page)
  await expect(state(page)).toHaveText('Encrypted')
  expect(await value()).not.toBe(theirs)
  await expect(page.getByText('while you were typing')).toHaveCount(0)

  // Both save at the same moment, so one of them has to choose.
  for (const one of [page, other]) {
    await one.getByRole('button', { name: 'Replace' }).click()
    await one.getByLabel('Secret value of TOKEN').fill(one === page ? 'third' : 'fourth')
  }
  await Promise.all([save(page), save(other)])
  const asked = (one: Page) => one.getByText('so nothing was saved').count()
  await expect.poll(async () => (await asked(page)) + (await asked(other))).toBe(1)
})

test('a setting that the role user may not change is marked at its field, and is not sent', async ({
  browser,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const service = await createService(testEnvironment, [{ name: `host/${unique('a')}`, tag: '1', image: idle() }])
  const { client } = testEnvironment.user
  const params = { teamSlug: testEnvironment.teamSlug, projectId: service.projectId, versionId: service.versionId }
  const configId = (await client.call('versions.get', { params })).images[0]?.config.id ?? ''
  const grace = await signUp(testSystem.system.url, { firstName: 'Grace', lastName: 'Hopper' })
  const { teams } = await client.call('users.me')
  const team = { teamId: teams.find(({ slug }) => slug === testEnvironment.teamSlug)?.id ?? '' }
  const body = { email: grace.email, firstName: 'Grace', lastName: 'Hopper' }
  await client.call('teams.invite', { params: team, body })
  await grace.client.call('users.accept-invitation', { params: team })
  const hers = await browser.newContext({ storageState: signedOut, baseURL: testSystem.system.url })
  const page = await hers.newPage()
  await signIn(page, testSystem.system.url, grace)
  await page.goto(`/${testEnvironment.teamSlug}/container-configurations/${configId}`)
  await showSetting(page, 'Volumes')
  const volumes = page.getByRole('region', { name: 'Volumes', exact: true })
  await volumes.getByLabel('Name', { exact: true }).fill('/etc')
  await volumes.getByLabel('Path inside', { exact: true }).fill('/host')
  await volumes.getByLabel('Path inside', { exact: true }).blur()
  await expect(volumes.getByText('Needs the role admin; yours is user.')).toBeVisible()
  await expect(page.locator('[data-save=held]')).toBeVisible()
  await page.getByRole('radio', { name: 'JSON' }).click()
  await expect(page.getByText(/volumes\[0\]\.name: It binds a folder of the node/)).toBeVisible()

  await page.getByRole('radio', { name: 'Form' }).click()
  await volumes.getByLabel('Name', { exact: true }).fill('files')
  await volumes.getByLabel('Name', { exact: true }).blur()
  await saved(page)
  const stored = await client.call('container-configurations.get', {
    params: { teamSlug: testEnvironment.teamSlug, configId },
  })
  expect(stored.volumes).toMatchObject([{ name: 'files', path: '/host' }])
  await hers.close()
})
