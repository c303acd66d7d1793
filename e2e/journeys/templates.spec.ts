import { deploy, engine, freePort, type ImageSpec, unique } from '@crux/test-kit'
import type { Page } from '@playwright/test'
import pg from 'pg'
import { expect, test } from '../kit/journey.ts'
import { answers } from '../kit/service.ts'
import type { TestSystem } from '../kit/test-system.ts'
import { recordTraffic } from '../kit/traffic.ts'

const stopsAtOnce = "trap 'exit 0' TERM INT;"
/** Stands for MySQL: it answers a client that knows the password, and passes the health check of the template. */
const database: ImageSpec = {
  cmd: ['/bin/sh', '-c', `${stopsAtOnce} echo accepted > "/www/$MYSQL_PASSWORD"; /bin/httpd -f -p 3306 -h /www & wait`],
  files: {
    '/www/ready': 'ready',
    '/bin/mysqladmin': '#!/bin/sh\nexec wget -q -O /dev/null http://127.0.0.1:3306/ready\n',
  },
}
/** Stands for WordPress: it starts only with the password that the database accepts, and passes the probe of the template. */
const client: ImageSpec = {
  cmd: [
    '/bin/sh',
    '-c',
    `${stopsAtOnce} [ "$(wget -q -O - "http://$WORDPRESS_DB_HOST:3306/$WORDPRESS_DB_PASSWORD")" = accepted ] || exit 1; /bin/httpd -f -p 80 -h /www & wait`,
  ],
  files: { '/www/index.html': 'connected', '/www/wp-admin/install.php': 'ready' },
}
const box = (page: Page) => page.getByRole('region', { name: 'Generate passwords' })
const shownDialog = (page: Page) => page.getByRole('dialog', { name: /generated value/i })

/** The images of Docker Hub cannot be pulled here: the same names, settings and secrets with images of the local registry. */
async function replaceImages({ testEnvironment, registry, system }: TestSystem, projectId: string, port: number) {
  const params = { teamSlug: testEnvironment.teamSlug, projectId }
  const call = testEnvironment.user.client.call
  const versionId = (await call('versions.list', { params, query: {} }))[0]?.id ?? ''
  const images = await call('images.list', { params: { ...params, versionId } })
  const connection = new pg.Client({ connectionString: system.databaseUrl })
  await connection.connect()
  for (const [index, spec] of [database, client].entries()) {
    const name = `template/${unique('image')}`
    await registry.push(name, '1', spec)
    await connection.query('update crux.image set registry_id = $1, name = $2, tag = $3 where id = $4', [
      testEnvironment.registryId,
      name,
      '1',
      images[index]?.id,
    ])
  }
  await connection.end()
  await call('images.update', {
    params: { ...params, versionId, imageId: images[1]?.id ?? '' },
    body: { config: { ports: [{ internal: 80, external: port }] } },
  })
  return versionId
}

async function getVariables(container: string): Promise<Record<string, string>> {
  const { Config } = await engine<{ Config: { Env: string[] } }>('GET', `/containers/${container}/json`)
  return Object.fromEntries(
    Config.Env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
}

async function readShownValue(page: Page, group: string): Promise<string> {
  const value = await shownDialog(page).getByRole('region', { name: group, exact: true }).textContent()
  expect(value).toMatch(/^[a-zA-Z2-9]{32}$/)
  return value ?? ''
}

test('a template runs with one generated password for its database and its client', async ({ page, testSystem }) => {
  test.setTimeout(180_000)
  const { testEnvironment } = testSystem
  const { teamSlug } = testEnvironment
  const call = testEnvironment.user.client.call
  const name = unique('Blog ')
  const prefix = unique('blog')
  const port = await freePort()
  const traffic = recordTraffic(page)

  await page.goto('/templates')
  await page.getByLabel('Filter by name, description or technology').fill('wordpress')
  await expect(page.getByRole('list', { name: 'Templates' }).getByRole('heading')).toHaveText(['WordPress'])
  await page.getByRole('button', { name: 'Add WordPress' }).click()
  const form = page.getByRole('dialog')
  await expect(form.getByLabel('Name', { exact: true })).toHaveValue('WordPress')
  await form.getByLabel('Name', { exact: true }).fill(name)
  await form.getByRole('button', { name: 'Add project' }).click()
  await page.waitForURL(/projects\/[0-9a-f-]{36}/)
  await expect(page.getByText(`Project ${name} created. Add a deployment`)).toBeVisible()
  await expect(page.getByRole('main').getByRole('heading', { name })).toBeVisible()

  const projectId = /projects\/([0-9a-f-]{36})/.exec(page.url())?.[1] ?? ''
  const versionId = await replaceImages(testSystem, projectId, port)
  const { id } = await call('deployments.create', {
    params: { teamSlug },
    body: { versionId, nodeId: testEnvironment.nodeId, prefix },
  })

  await page.goto(`/${teamSlug}/deployments/${id}`)
  await expect(page.getByText('Fix 3 problems to deploy').first()).toBeVisible()
  await expect(box(page).getByRole('list', { name: 'Groups of secrets' }).getByRole('listitem')).toHaveText([
    'database database: MYSQL_PASSWORD, wordpress: WORDPRESS_DB_PASSWORD',
    'database-root database: MYSQL_ROOT_PASSWORD',
  ])
  await box(page).getByRole('button', { name: 'Generate 2 values' }).click()
  const password = await readShownValue(page, 'database')
  const root = await readShownValue(page, 'database-root')
  expect(root).not.toBe(password)
  await shownDialog(page).getByRole('button', { name: 'I have copied what I need' }).click()
  await expect(box(page)).toBeHidden()
  await expect(page.getByRole('button', { name: /^Deploy/ }).first()).toBeEnabled()
  expect(await page.content()).not.toContain(password)

  await deploy(testEnvironment, id)
  await answers(port, 'connected')
  expect(await getVariables(`${prefix}-database`)).toMatchObject({
    MYSQL_PASSWORD: password,
    MYSQL_ROOT_PASSWORD: root,
    MYSQL_USER: 'wordpress',
  })
  expect(await getVariables(`${prefix}-wordpress`)).toMatchObject({ WORDPRESS_DB_PASSWORD: password })

  // The values left the browser encrypted.
  const sent = await traffic.text()
  expect(sent).toContain('BEGIN PGP MESSAGE')
  for (const value of [password, root]) expect(sent).not.toContain(value)
})

test('a group whose keys have not all a value is only replaced as a whole, and only when asked', async ({
  page,
  testSystem,
}) => {
  test.setTimeout(180_000)
  const { testEnvironment } = testSystem
  const { teamSlug } = testEnvironment
  const call = testEnvironment.user.client.call
  const prefix = unique('part')
  const project = await call('templates.create', {
    body: { id: 'wordpress', teamSlug, name: unique('Partial '), type: 'versioned' },
  })
  const versionId = await replaceImages(testSystem, project.id, await freePort())
  const { id } = await call('deployments.create', {
    params: { teamSlug },
    body: { versionId, nodeId: testEnvironment.nodeId, prefix },
  })
  const { instances } = await call('deployments.get', { params: { teamSlug, deploymentId: id } })
  const configId = instances[0]?.config.id ?? ''
  await page.goto(`/${teamSlug}/container-configurations/${configId}`)
  const section = page.getByRole('region', { name: 'Secrets', exact: true })
  await expect(section.getByText('Generated value of the group database', { exact: true })).toBeVisible()
  await section.getByLabel('Secret value of MYSQL_PASSWORD', { exact: true }).fill('typed by a person')
  await section.getByRole('button', { name: 'Encrypt and save' }).click()
  await expect(section.locator('[data-part="secrets.MYSQL_PASSWORD"] [data-state]')).toHaveText('Encrypted')

  // The panel of the instance's page and the page of the deployment offer the same.
  await expect(box(page).getByRole('button', { name: 'Replace both' })).toBeVisible()
  await page.goto(`/${teamSlug}/deployments/${id}`)
  await expect(box(page).getByRole('button', { name: 'Generate 1 value' })).toBeVisible()
  await expect(box(page)).toContainText(
    'wordpress: WORDPRESS_DB_PASSWORD has no value, and the value of database: MYSQL_PASSWORD cannot be read.',
  )
  await box(page).getByRole('button', { name: 'Generate 1 value' }).click()
  await readShownValue(page, 'database-root')
  await expect(shownDialog(page).getByRole('region', { name: 'database', exact: true })).toBeHidden()
  await page.keyboard.press('Escape')

  await box(page).getByRole('button', { name: 'Replace both' }).click()
  const question = page.getByRole('alertdialog').or(page.getByRole('dialog'))
  await expect(question).toContainText('database: MYSQL_PASSWORD, wordpress: WORDPRESS_DB_PASSWORD')
  await question.getByRole('button', { name: 'Cancel' }).click()
  await expect(box(page).getByRole('button', { name: 'Replace both' })).toBeVisible()
  await box(page).getByRole('button', { name: 'Replace both' }).click()
  await question.getByRole('button', { name: 'Replace both' }).click()
  const password = await readShownValue(page, 'database')
  await page.keyboard.press('Escape')
  await expect(box(page)).toBeHidden()
  await deploy(testEnvironment, id)
  expect((await getVariables(`${prefix}-database`)).MYSQL_PASSWORD).toBe(password)
  expect((await getVariables(`${prefix}-wordpress`)).WORDPRESS_DB_PASSWORD).toBe(password)
})

test('values that could not all be stored are completed by another attempt with the same values', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const { teamSlug } = testEnvironment
  const call = testEnvironment.user.client.call
  const project = await call('templates.create', {
    body: { id: 'wordpress', teamSlug, name: unique('Interrupted '), type: 'versionless' },
  })
  const versionId = await replaceImages(testSystem, project.id, await freePort())
  const prefix = unique('cut')
  const { id } = await call('deployments.create', {
    params: { teamSlug },
    body: { versionId, nodeId: testEnvironment.nodeId, prefix },
  })
  await page.goto(`/${teamSlug}/deployments/${id}`)
  let patches = 0
  await page.route(/\/container-configurations\/[0-9a-f-]{36}$/, async (route) => {
    if (route.request().method() === 'PATCH' && ++patches === 2) return route.abort()
    return route.fallback()
  })
  await box(page).getByRole('button', { name: 'Generate 2 values' }).click()
  await expect(box(page)).toContainText('Not all values are stored.')
  await box(page).getByRole('button', { name: 'Store the remaining values' }).click()
  const password = await readShownValue(page, 'database')
  await page.keyboard.press('Escape')
  await expect(box(page)).toBeHidden()
  await deploy(testEnvironment, id)
  expect((await getVariables(`${prefix}-database`)).MYSQL_PASSWORD).toBe(password)
  expect((await getVariables(`${prefix}-wordpress`)).WORDPRESS_DB_PASSWORD).toBe(password)
})
