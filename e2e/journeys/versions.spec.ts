import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createDeployment,
  createService,
  deploy,
  idle,
  setTag,
  type TestEnvironment,
  unique,
  web,
} from '@crux/test-kit'
import type { Locator, Page } from '@playwright/test'
import { addImage } from '../kit/console.ts'
import { expect, test } from '../kit/journey.ts'

const order = (page: Page) =>
  page
    .getByRole('table', { name: 'Images' })
    .getByRole('row')
    .filter({ hasNot: page.getByRole('columnheader') })
    .locator('td:nth-child(2)')

test('a versioned project has a version, a successor with the same images, and a default', async ({
  page,
  testSystem,
}) => {
  const { teamSlug } = testSystem.testEnvironment
  const name = unique('Shop ')
  const image = `shop/${unique('web')}`
  await testSystem.registry.push(image, '1.0.0', web('hello'))

  await page.goto(`/${teamSlug}/projects#new`)
  await page.getByLabel('Name', { exact: true }).fill(name)
  await expect(page.getByRole('switch', { name: 'With versions' })).toBeChecked()
  await page.getByRole('button', { name: 'Create project' }).click()
  await expect(page.getByText('No versions yet')).toBeVisible()

  await page.getByRole('button', { name: 'New version' }).first().click()
  await page.getByRole('dialog').getByLabel('Name').fill('1.0.0')
  await page.getByRole('dialog').getByRole('button', { name: 'Create version' }).click()
  await page.waitForURL(/\/versions\//)
  await addImage(page, /^registry-/, image)

  await page.getByRole('button', { name: 'New version from ' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('1.1.0')
  await page.getByRole('dialog').getByRole('button', { name: 'Create the next version' }).click()
  await expect(page.getByRole('heading', { name: `${name} 1.1.0` })).toBeVisible()
  await expect(page.getByRole('row', { name: image })).toBeVisible()

  await page.getByRole('button', { name: 'More actions' }).first().click()
  await page.getByRole('menuitem', { name: 'Set as default' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Set as default' }).click()
  await expect(page.getByText('default', { exact: true })).toBeVisible()

  await page.getByRole('link', { name, exact: true }).click()
  await expect(page.getByText('default', { exact: true })).toHaveCount(1)
  await page.getByRole('link', { name: '1.0.0', exact: true }).click()
  await expect(page.getByText('Read-only', { exact: true })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Reorder' })).toHaveAttribute('aria-disabled', 'true')
})

/** The default name of a container: the last part of the name of its image. */
const shortName = (image: string) => image.slice(image.lastIndexOf('/') + 1)

async function moveUp(page: Page, name: string, place: number, of: number) {
  await page.getByRole('button', { name: `Move ${name}, position ${place} of ${of}` }).focus()
  await page.keyboard.press('Space')
  await expect(page.getByText(`${name} is at position ${place} of ${of}.`)).toBeAttached()
  // The list measures its rows a moment after one was picked up. An earlier key press, which only a script can make, moves nothing.
  await expect(async () => {
    await page.keyboard.press('ArrowUp')
    await expect(page.getByText(`${name} is at position ${place - 1} of ${of}.`)).toBeAttached({ timeout: 1_000 })
  }).toPass()
  await page.keyboard.press('Space')
  await expect(page.getByRole('button', { name: `Move ${name}, position ${place - 1} of ${of}` })).toBeVisible()
}

test('images can be sorted by keyboard and by dragging, and the order is saved', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  const names = ['db', 'api', 'web'].map((name) => `${name}/${unique('i')}`)
  const service = await createService(
    testEnvironment,
    names.map((name) => ({ name, tag: '1', image: idle() })),
  )
  const [db = '', api = '', web = ''] = names
  await page.goto(`/${testEnvironment.teamSlug}/projects/${service.projectId}`)
  await expect(order(page)).toHaveText(names.map(shortName))

  await page.getByRole('button', { name: 'Reorder' }).click()
  const handle = (name: string) => page.getByRole('button', { name: new RegExp(`^Move ${name}, position`) })
  await moveUp(page, web, 3, 3)
  await page.getByRole('button', { name: 'Save the order' }).click()
  await expect(order(page)).toHaveText([db, web, api].map(shortName))

  await page.getByRole('button', { name: 'Reorder' }).click()
  const from = await handle(api).boundingBox()
  const to = await handle(db).boundingBox()
  if (!from || !to) throw new Error('the handles are not on the page')
  await page.mouse.move(from.x + 10, from.y + 10)
  await page.mouse.down()
  await page.mouse.move(from.x + 10, from.y - 10, { steps: 4 })
  await page.mouse.move(to.x + 10, to.y + 4, { steps: 12 })
  await expect(page.getByText(`${api} is at position 1 of 3.`)).toBeAttached()
  await page.mouse.up()
  await expect(page.getByRole('button', { name: `Move ${api}, position 1 of 3` })).toBeVisible()
  // For 50 ms after a drop every click counts as the end of the drag, which only a script can reach.
  const saved = page.getByRole('button', { name: 'Save the order' })
  await expect(async () => {
    await saved.click({ timeout: 1_000 })
    await expect(saved).toBeHidden({ timeout: 1_000 })
  }).toPass()
  await expect(order(page)).toHaveText([api, db, web].map(shortName))
  await page.reload()
  await expect(order(page)).toHaveText([api, db, web].map(shortName))
})

test('an order that is saved while the connection is down is shown as it was saved', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  const names = ['db', 'api'].map((name) => `${name}/${unique('i')}`)
  const service = await createService(
    testEnvironment,
    names.map((name) => ({ name, tag: '1', image: idle() })),
  )
  let away = false
  let cut = async () => {}
  await page.routeWebSocket(/\/api$/, async (socket) => {
    if (away) return socket.close()
    const server = socket.connectToServer()
    cut = async () => {
      await server.close()
      await socket.close()
    }
    // The message is delayed, so that the page loads the images before the server receives their order.
    socket.onMessage(
      (text) => void setTimeout(() => server.send(text), String(text).includes('order-images') ? 1_000 : 0),
    )
  })
  const readImages = () => page.waitForResponse((answer) => answer.url().endsWith(`/versions/${service.versionId}`))
  await page.goto(`/${testEnvironment.teamSlug}/projects/${service.projectId}`)
  await expect(order(page)).toHaveText(names.map(shortName))
  await page.getByRole('button', { name: 'Reorder' }).click()
  await moveUp(page, names[1] ?? '', 2, 2)

  away = true
  await cut()
  await page.getByRole('button', { name: 'Save the order' }).click()
  away = false
  await readImages()
  await readImages()
  await expect(order(page)).toHaveText(names.toReversed().map(shortName))
})

test('labels that cannot be parsed as rules are reported at the image, and the others become variables', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const labels = { 'dev.crux.env.PORT': 'int,default:80', 'dev.crux.env.MODE': 'number' }
  const name = `rules/${unique('i')}`
  const service = await createService(testEnvironment, [{ name, tag: '1', image: { labels } }])
  await page.goto(`/${testEnvironment.teamSlug}/projects/${service.projectId}/versions/${service.versionId}`)
  const mark = page.getByRole('button', { name: /^1 label cannot be read: dev\.crux\.env\.MODE: / })
  await expect(mark).toBeVisible()
  await mark.hover()
  await expect(page.getByRole('tooltip')).toContainText('use string, boolean, int')
  // Another tag has other labels. The page shows their problems without a reload when any user selects it.
  await testSystem.registry.push(name, '2', {
    labels: { 'dev.crux.env.MODE': 'nothing', 'dev.crux.env.SIZE': 'number' },
  })
  await setTag(testEnvironment, service, 0, '2')
  await expect(page.getByRole('button', { name: /^2 labels cannot be read/ })).toBeVisible()
  await testSystem.registry.push(name, '3', { labels: { 'dev.crux.env.MODE': 'string' } })
  await page.getByRole('button', { name: 'Change the tag' }).click()
  await page.getByRole('dialog').getByRole('button', { name: /^3/ }).click()
  await expect(page.getByRole('row', { name })).toContainText('3')
  await expect(page.getByRole('button', { name: /cannot be read/ })).toHaveCount(0)
  await page.getByRole('link', { name: shortName(name), exact: true }).click()
  await expect(
    page.getByRole('textbox', { name: 'PORT' }).or(page.locator('input[value="PORT"]')).first(),
  ).toBeVisible()
})

test('a deployed version and its images cannot be deleted or changed, and the page shows why', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const service = await createService(testEnvironment, [{ name: `guard/${unique('i')}`, tag: '1', image: idle() }], {
    versioned: '1.0.0',
  })
  const deployment = await createDeployment(testEnvironment, service, unique('guard'))
  expect((await deploy(testEnvironment, deployment.id)).status).toBe('successful')

  await page.goto(`/${testEnvironment.teamSlug}/projects/${service.projectId}/versions/${service.versionId}`)
  await expect(page.getByText('Read-only', { exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'More actions' }).first().click()
  const remove = page.getByRole('menuitem', { name: 'Delete version' })
  await expect(remove).toHaveAttribute('aria-disabled', 'true')
  await expect(remove).toContainText('It has a deployment that ran')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: 'Edit', exact: true })).toHaveAttribute('aria-disabled', 'true')

  await page.goto(`/${testEnvironment.teamSlug}/registries/${testEnvironment.registryId}`)
  const disconnect = page.getByRole('button', { name: 'Delete', exact: true })
  await expect(disconnect).toHaveAttribute('aria-disabled', 'true')
  await disconnect.hover()
  await expect(page.getByRole('tooltip')).toContainText('Images of a version use it')
})

test('a tag that the server refuses is reset to its stored value', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  const name = unique('ref/i')
  const service = await createService(testEnvironment, [{ name, tag: '1', image: idle() }], { versioned: '1.0.0' })
  await testEnvironment.registry.push(name, '2', idle('two'))
  await page.goto(`/${testEnvironment.teamSlug}/projects/${service.projectId}/versions/${service.versionId}`)
  const row = page.getByRole('row', { name })
  await row.getByRole('button', { name: 'Change the tag' }).click()
  const two = page.getByRole('dialog').getByRole('button', { name: /^2/ })
  await expect(two).toBeVisible()
  // Another user creates the next version in the meantime, which makes this one read-only.
  const params = { teamSlug: testEnvironment.teamSlug, projectId: service.projectId, versionId: service.versionId }
  await testEnvironment.user.client.call('versions.increase', { params, body: { name: '1.1.0' } })
  await two.click()
  await expect(page.locator('.toast-error')).toBeVisible()
  await expect(page.getByText('Read-only', { exact: true })).toBeVisible()
  await expect(row.getByText('1', { exact: true }).last()).toBeVisible()
  await expect(row.getByText('2', { exact: true })).toHaveCount(0)
})

/** Creates a registry for one test, because the server caches the state of others for some seconds. */
async function addRegistry({ user: { client }, teamSlug }: TestEnvironment, url: string) {
  const name = unique('own-')
  const body = { name, type: 'v2' as const, details: { url, public: true } }
  const { id } = await client.call('registries.create', { params: { teamSlug }, body })
  return { id, name, remove: () => client.call('registries.delete', { params: { teamSlug, registryId: id } }) }
}

async function openAddImages(page: Page, { teamSlug }: TestEnvironment, { projectId }: { projectId: string }) {
  await page.goto(`/${teamSlug}/projects/${projectId}`)
  await page.getByRole('button', { name: 'Add images' }).first().click()
  return page.getByRole('dialog', { name: 'Add images' })
}

/** Few registries are shown side by side; where other tests of the team left more, they are in a list behind a button. */
async function chooseRegistry(dialog: Locator, name: string) {
  const beside = dialog.getByRole('radio', { name })
  const change = dialog.getByRole('button', { name: 'Change registry' })
  await expect(beside.or(change)).toBeVisible()
  if (await beside.isVisible()) return beside.click()
  await change.click()
  await dialog.getByRole('button', { name }).click()
}

test('the failure of an unreachable registry is not shown for the registry that was selected after it', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const image = unique('chosen-')
  const service = await createService(testEnvironment, [{ name: image, tag: '1', image: idle() }])
  let status = 200
  const broken = createServer((_, answer) =>
    answer.writeHead(status, { 'docker-distribution-api-version': 'registry/2.0' }).end('{"repositories":[]}'),
  )
  await once(broken.listen(0, '127.0.0.1'), 'listening')
  const first = await addRegistry(testEnvironment, `http://127.0.0.1:${(broken.address() as AddressInfo).port}`)
  status = 500
  const second = await addRegistry(testEnvironment, testEnvironment.registry.host)
  const late: string[] = []
  await page.routeWebSocket(/\/api$/, (socket) => {
    const server = socket.connectToServer()
    socket.onMessage((text) => {
      // The refusal of the first search arrives between the second search and its answer.
      if (String(text).includes(second.id)) for (const refusal of late.splice(0)) socket.send(refusal)
      server.send(text)
    })
    server.onMessage((text) => {
      if (String(text).startsWith('{"type":"error"')) late.push(String(text))
      else socket.send(text)
    })
  })
  const dialog = await openAddImages(page, testEnvironment, service)
  await chooseRegistry(dialog, first.name)
  await expect.poll(() => late.length).toBeGreaterThan(0)
  await chooseRegistry(dialog, second.name)
  await expect(dialog.getByRole('checkbox', { name: image })).toBeVisible()
  await expect(page.locator('.toast-error')).toHaveCount(0)
  await Promise.all([first.remove(), second.remove()])
  broken.close()
})

test('a search that was lost with the connection is sent again when the connection is back', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const image = unique('asked-')
  const service = await createService(testEnvironment, [{ name: image, tag: '1', image: idle() }])
  const { name, remove } = await addRegistry(testEnvironment, testEnvironment.registry.host)
  let lost = 0
  await page.routeWebSocket(/\/api$/, (socket) => {
    const server = socket.connectToServer()
    socket.onMessage(async (text) => {
      if (lost > 0 || !String(text).includes(`"filter":"${image}"`)) return server.send(text)
      lost += 1
      await server.close()
      await socket.close()
    })
  })
  const dialog = await openAddImages(page, testEnvironment, service)
  await chooseRegistry(dialog, name)
  await dialog.getByLabel('Find an image').fill(image)
  await expect.poll(() => lost).toBe(1)
  await expect(dialog.getByText('1 found')).toBeVisible()
  await expect(dialog.getByRole('checkbox', { name: image })).toBeVisible()
  await remove()
})

test('the answer to an older search is not shown for a newer one', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  const mark = unique('ov')
  const [alpha, beta] = [`${mark}/alpha`, `${mark}/beta`]
  const service = await createService(testEnvironment, [{ name: alpha, tag: '1', image: idle() }])
  await testEnvironment.registry.push(beta, '1', idle())
  const { name, remove } = await addRegistry(testEnvironment, testEnvironment.registry.host)
  const late: string[] = []
  await page.routeWebSocket(/\/api$/, (socket) => {
    const server = socket.connectToServer()
    socket.onMessage((text) => {
      // The first answer arrives only after the second search was sent.
      if (String(text).includes(`"filter":"${alpha}"`)) for (const answer of late.splice(0)) socket.send(answer)
      server.send(text)
    })
    server.onMessage((text) => {
      const answer = String(text)
      if (answer.includes('/find-image-result') && answer.includes('"filter":""')) late.push(answer)
      else socket.send(text)
    })
  })
  const dialog = await openAddImages(page, testEnvironment, service)
  await chooseRegistry(dialog, name)
  const search = dialog.getByLabel('Find an image')
  await expect.poll(() => late.length).toBeGreaterThan(0)
  await search.fill(alpha)
  await expect(dialog.getByText('1 found')).toBeVisible()
  await expect(dialog.getByRole('checkbox', { name: alpha })).toBeVisible()
  await expect(dialog.getByRole('checkbox')).toHaveCount(1)
  await remove()
})
