import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createDeployment, createService, idle, type TestEnvironment, unique } from '@crux/test-kit'
import type { Page } from '@playwright/test'
import { showSetting } from '../kit/console.ts'
import { expect, test } from '../kit/journey.ts'

const saved = (page: Page) => expect(page.locator('[data-save=saved]')).toBeVisible()
const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const valueIn = (page: Page, key: string) => page.getByLabel(`Value of ${key}`, { exact: true })
const row = <T extends object>(value: T) => ({ id: crypto.randomUUID(), ...value })
const environment = (pairs: Record<string, string>) => Object.entries(pairs).map(([key, value]) => row({ key, value }))

type Config = NonNullable<Parameters<typeof createService>[1][number]['config']>
/** Creates an image with a configuration, prepared for a node, with functions to read and write its layers. */
async function prepare(testEnvironment: TestEnvironment, config: Config) {
  const inTeam = { teamSlug: testEnvironment.teamSlug }
  const { client } = testEnvironment.user
  const imageName = `conf/${unique('a')}`
  const service = await createService(testEnvironment, [{ name: imageName, tag: '1', image: idle(), config }])
  const { id } = await createDeployment(testEnvironment, service, unique('conf'))
  const deployment = await client.call('deployments.get', { params: { ...inTeam, deploymentId: id } })
  const [instance] = deployment.instances
  if (!instance) throw new Error('the deployment has no instance')
  const path = (configId: string) => `/${testEnvironment.teamSlug}/container-configurations/${configId}`
  return {
    imageName,
    image: instance.image.config.id,
    instance: instance.config.id,
    deployment: deployment.config.id,
    path,
    stored: (configId: string) => client.call('container-configurations.get', { params: { ...inTeam, configId } }),
    async bundle(name: string, fields: Config) {
      const bundle = await client.call('config-bundles.create', { params: inTeam, body: { name } })
      const params = { ...inTeam, configId: bundle.configId }
      await client.call('container-configurations.update', { params, body: { config: fields } })
      return bundle
    },
    carry: (bundles: string[]) =>
      client.call('deployments.update', {
        params: { ...inTeam, deploymentId: id },
        body: { prefix: deployment.prefix, protected: false, note: '', configBundles: bundles },
      }),
  }
}

test('every kind of setting can be filled in, saved and removed with its dependent settings', async ({
  page,
  testSystem,
}) => {
  const { image, path, stored } = await prepare(testSystem.testEnvironment, {})
  await page.goto(path(image))
  await expect(page.getByText('Nothing is set yet')).toBeVisible()

  await page.keyboard.press('/')
  await page.keyboard.type('ulimit')
  await section(page, 'Limits').getByRole('button', { name: 'Add limit' }).click()
  await page.getByRole('menuitem', { name: 'nofile' }).click()
  await page.getByLabel('Soft limit of nofile').fill('1024')
  await page.getByLabel('Hard limit of nofile').fill('2048')
  await page.getByLabel('Shared memory').fill('128Mi')
  await page.getByRole('searchbox', { name: 'Find a setting' }).first().fill('')

  await page.getByRole('radio', { name: 'All', exact: true }).click()
  const add = async (name: string, typed: string[]) => {
    await section(page, name).getByRole('button', { name: 'Add', exact: true }).click()
    for (const [place, text] of typed.entries()) {
      if (place > 0) await page.keyboard.press('Tab')
      await page.keyboard.type(text)
    }
  }
  await add('Secrets', ['DATABASE_PASSWORD'])
  await add('Capabilities', ['NET_ADMIN'])
  await add('Extra hosts', ['db.internal', 'host-gateway'])
  await add('Docker labels', ['team', 'shop'])

  const ports = section(page, 'Ports')
  await add('Ports', ['8080', '18080'])
  await ports.getByRole('switch', { name: 'Keep published ports open' }).click()
  await expect(ports.getByText("The service sees the gate's address")).toBeVisible()
  await ports.getByLabel('PROXY protocol').selectOption('v2')
  await expect(ports.getByText("The service sees the gate's address")).toBeHidden()
  const volumes = section(page, 'Volumes')
  await volumes.getByRole('button', { name: 'Add', exact: true }).click()
  await volumes.getByLabel('Name', { exact: true }).fill('data')
  await volumes.getByLabel('Path inside', { exact: true }).fill('/data')

  const init = section(page, 'Init containers')
  await init.getByRole('button', { name: 'Add', exact: true }).click()
  await init.getByLabel('Name', { exact: true }).fill('migrate')
  await init.getByLabel('Image', { exact: true }).fill('acme/migrate:1')
  await init.getByLabel('Command 1').fill('migrate')
  await init.getByLabel('Command 2').fill('--all')
  await init.getByLabel('Environment: Key 1').fill('STEP')
  await init.getByLabel('Value of STEP').fill('one')
  await section(page, 'Health checks').getByLabel('Readiness').fill('/ready')
  await section(page, 'Labels').getByLabel('On the service: Key 1').fill('tier')
  await section(page, 'Labels').getByLabel('Value of tier').fill('front')
  await section(page, 'Metrics').getByRole('switch').click()
  await expect(section(page, 'Metrics').getByLabel('Metrics port')).toHaveValue('8080')

  const memory = section(page, 'Resources').getByLabel('Memory limit')
  await memory.fill('a lot')
  await expect(section(page, 'Resources').getByText('Use a quantity such as 512Mi or 1G')).toBeVisible()
  await memory.fill('512Mi')
  await saved(page)
  const config = await stored(image)
  expect(config).toMatchObject({
    ulimits: [{ key: 'nofile', soft: 1024, hard: 2048 }],
    shmSize: '128Mi',
    secrets: [{ key: 'DATABASE_PASSWORD', required: true }],
    capabilities: [{ key: 'NET_ADMIN', value: 'add' }],
    extraHosts: [{ key: 'db.internal', value: 'host-gateway' }],
    dockerLabels: [{ key: 'team', value: 'shop' }],
    ports: [{ internal: 8080, external: 18_080, proxyProtocol: 'v2' }],
    portGate: { enabled: true },
    volumes: [{ name: 'data', path: '/data' }],
    initContainers: [
      {
        name: 'migrate',
        image: 'acme/migrate:1',
        command: [{ key: 'migrate' }, { key: '--all' }],
        environment: [{ key: 'STEP', value: 'one' }],
      },
    ],
    healthCheckConfig: { readinessProbe: '/ready' },
    labels: { service: [{ key: 'tier', value: 'front' }] },
    metrics: { enabled: true, port: 8080 },
    resourceConfig: { limits: { memory: '512Mi' } },
  })

  await ports.getByRole('button', { name: 'Remove 8080' }).click()
  await saved(page)
  expect((await stored(image)).metrics).toMatchObject({ enabled: true, port: null })
  await page.getByRole('button', { name: /^Undo: ports/ }).click()
  await saved(page)
  expect(await stored(image)).toMatchObject({ metrics: { port: 8080 }, ports: [{ internal: 8080 }] })
})

test('the page of an instance shows the origin of each value, and bundles that conflict', async ({
  page,
  testSystem,
}) => {
  const testEnvironment = testSystem.testEnvironment
  const names = [unique('eu'), unique('us')]
  const it = await prepare(testEnvironment, {
    environment: environment({ LOG: 'info', URL: 'db' }),
    customHeaders: [row({ key: 'X-Id' })],
  })
  const bundles = []
  for (const name of names)
    bundles.push(await it.bundle(name, { environment: environment({ REGION: name, [`ONLY_${name}`]: '1' }) }))
  await it.carry(bundles.map((bundle) => bundle.id))

  await page.goto(it.path(it.instance))
  const line = (key: string) =>
    section(page, 'Environment')
      .getByRole('row')
      .filter({ has: page.getByText(key, { exact: true }) })
  await expect(line('LOG')).toContainText('image')
  await expect(line(`ONLY_${names[0]}`)).toContainText(`bundle ${names[0]}`)
  await expect(page.getByRole('alert').filter({ hasText: 'REGION differs' })).toContainText(
    "deployment's configuration",
  )
  await expect(section(page, 'Headers').getByRole('note')).toContainText('does nothing here')

  // The deployment decides the conflict; the instance overrides a value, removes it, and resets it.
  await page.goto(it.path(it.deployment))
  await expect(page.getByRole('alert').filter({ hasText: 'REGION differs' })).toContainText(names[1] ?? '')
  await valueIn(page, 'REGION').fill('decided')
  await expect(page.getByRole('alert').filter({ hasText: 'REGION differs' })).toBeHidden()
  await saved(page)

  await page.goto(it.path(it.instance))
  await expect(line('REGION')).toContainText('this deployment')
  await expect(page.getByRole('alert')).toHaveCount(0)
  await valueIn(page, 'LOG').fill('debug')
  await expect(line('LOG')).toContainText('this instance')
  await page.getByRole('button', { name: 'Remove URL here' }).click()
  await expect(line('URL')).toContainText('removed here')
  await saved(page)

  await page.getByRole('radio', { name: 'Final' }).click()
  const final = page.getByRole('table', { name: 'Final configuration' })
  await expect(final.getByRole('row').filter({ hasText: 'environment.LOG' })).toContainText('debug')
  await expect(final.getByRole('row').filter({ hasText: 'environment.LOG' })).toContainText('this instance')
  await expect(final.getByRole('row').filter({ hasText: 'environment.REGION' })).toContainText('this deployment')
  await expect(final.getByText('environment.URL')).toHaveCount(0)

  await page.getByRole('radio', { name: 'Form' }).click()
  await page.getByRole('button', { name: 'Reset to the inherited value: LOG' }).click()
  await expect(valueIn(page, 'LOG')).toHaveValue('info')
  await page.getByRole('button', { name: 'Reset to the inherited value: URL' }).click()
  await expect(valueIn(page, 'URL')).toHaveValue('db')
  await saved(page)
  expect((await it.stored(it.instance)).environment ?? []).toEqual([])
})

test('variables can be imported from an .env file and exported to one', async ({ page, testSystem }) => {
  const { image, path, stored } = await prepare(testSystem.testEnvironment, {
    environment: environment({ LOG: 'info', OLD: 'x' }),
  })
  await page.goto(path(image))
  const file = '# from the team\nexport LOG=debug # louder\nKEY="-----BEGIN\nabc\n-----END"\n'
  await section(page, 'Environment').getByRole('button', { name: 'Import and download' }).click()
  await page.getByRole('menuitem', { name: 'Import an .env file' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import variables' })
  await dialog
    .locator('input[type=file]')
    .setInputFiles({ name: '.env', mimeType: 'text/plain', buffer: Buffer.from(`${file}nonsense\n`) })
  await expect(dialog.getByText('Line 6 is not a variable: nonsense')).toBeVisible()
  await expect(dialog.getByText('1 added, 1 changed')).toBeVisible()
  await dialog.getByRole('button', { name: 'Apply 2 changes' }).click()
  await saved(page)
  const values = async () =>
    Object.fromEntries((await stored(image)).environment?.map(({ key, value }) => [key, value]) ?? [])
  expect(await values()).toEqual({ LOG: 'debug', OLD: 'x', KEY: '-----BEGIN\nabc\n-----END' })

  await section(page, 'Environment').getByRole('button', { name: 'Import and download' }).click()
  const download = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'Download as .env' }).click()
  expect(await readFile(await (await download).path(), 'utf8')).toBe(
    'LOG=debug\nOLD=x\nKEY="-----BEGIN\nabc\n-----END"\n',
  )

  await page.locator('h1').click()
  await page.keyboard.press('Control+z')
  await expect(valueIn(page, 'LOG')).toHaveValue('info')
  await saved(page)
  expect(await values()).toEqual({ LOG: 'info', OLD: 'x' })
})

test('an earlier state can be restored, and settings can be copied from another configuration', async ({
  page,
  testSystem,
}) => {
  const it = await prepare(testSystem.testEnvironment, { environment: environment({ LOG: 'info' }) })
  const other = await prepare(testSystem.testEnvironment, {
    name: unique('lender'),
    workingDirectory: '/srv',
    environment: environment({ LOG: 'lent' }),
  })
  await page.goto(it.path(it.image))
  await valueIn(page, 'LOG').fill('debug')
  await saved(page)

  await page.getByRole('button', { name: 'More actions' }).first().click()
  await page.getByRole('menuitem', { name: 'History' }).click()
  const history = page.getByRole('dialog', { name: 'History' })
  await expect(history.getByRole('button').filter({ hasText: 'LOG' }).first()).toContainText('Ada Lovelace')
  await history.getByRole('button', { expanded: false }).nth(1).click()
  await expect(history.getByText('+ LOG=info')).toBeVisible()
  await history.getByRole('button', { name: 'Restore' }).click()
  await page.getByRole('dialog', { name: 'Restore this state?' }).getByRole('button', { name: 'Restore' }).click()
  await expect.poll(async () => (await it.stored(it.image)).environment?.[0]?.value).toBe('info')
  await page.keyboard.press('Escape')
  await expect(valueIn(page, 'LOG')).toHaveValue('info')

  await page.getByRole('button', { name: 'More actions' }).first().click()
  await page.getByRole('menuitem', { name: 'Compare and copy' }).click()
  const lender = other.imageName
  await page.getByRole('dialog').getByRole('searchbox').fill(lender)
  await page.getByRole('dialog').getByRole('button', { name: lender }).click()
  const compare = page.getByRole('dialog', { name: `Compared with ${lender}` })
  await expect(compare.getByText('+ LOG=lent')).toBeVisible()
  await compare.getByRole('checkbox', { name: 'workingDirectory' }).click()
  await compare.getByRole('button', { name: 'Copy 1 setting' }).click()
  await expect(valueIn(page, 'LOG')).toHaveValue('lent')
  await saved(page)
  const stored = await it.stored(it.image)
  expect(stored.environment?.[0]?.value).toBe('lent')
  expect(stored.workingDirectory ?? null).toBeNull()
  expect(stored.name ?? null).not.toBe((await other.stored(other.image)).name)
})

test('a configuration with a thousand variables can be searched and edited, and renders only visible rows', async ({
  page,
  testSystem,
}) => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`VARIABLE_${at}`, `value ${at}`]))
  const { image, path, stored } = await prepare(testSystem.testEnvironment, { environment: environment(many) })
  await page.goto(path(image))
  await expect(section(page, 'Environment').getByText('1000 values')).toBeVisible()
  await page.getByRole('searchbox', { name: 'Find in Environment' }).fill('variable_777')
  await expect(page.getByText('1 row', { exact: true })).toBeVisible()
  await valueIn(page, 'VARIABLE_777').fill('lucky')
  await page.getByRole('searchbox', { name: 'Find in Environment' }).fill('')
  await section(page, 'Environment').getByRole('button', { name: 'Add', exact: true }).click()
  await page.keyboard.type('LAST_ONE')
  await page.keyboard.press('Tab')
  await page.keyboard.type('typed at the end of a thousand')
  await saved(page)
  // Only rows near the visible area are rendered.
  expect(await section(page, 'Environment').getByRole('row').count()).toBeLessThan(100)
  const found = new Map((await stored(image)).environment?.map(({ key, value }) => [key, value]))
  expect([found.size, found.get('VARIABLE_777'), found.get('LAST_ONE')]).toEqual([
    1_001,
    'lucky',
    'typed at the end of a thousand',
  ])
  // A link leads to a row that is not rendered yet.
  await page.goto(`${path(image)}#environment[500].value`)
  await expect(valueIn(page, 'VARIABLE_500')).toBeFocused()
})

test('the JSON tab follows the form, applies its edits, and shows what is wrong', async ({ page, testSystem }) => {
  const { image, path, stored } = await prepare(testSystem.testEnvironment, {
    environment: environment({ LOG: 'info' }),
  })
  await page.goto(`${path(image)}?view=json`)
  const editor = page.getByLabel('Configuration as JSON').last()
  await expect(editor).toContainText('"LOG": "info"')
  await editor.fill('{ "environment": { "LOG": "debug" }, "tty": true }')
  await saved(page)
  expect(await stored(image)).toMatchObject({ tty: true, environment: [{ key: 'LOG', value: 'debug' }] })
  await editor.fill('{ "environment": { "LOG": "debug" }, "nonsense": true }')
  await expect(page.getByText('nonsense is not a setting')).toBeVisible()
  await page.getByRole('radio', { name: 'Form' }).click()
  await expect(valueIn(page, 'LOG')).toHaveValue('debug')
  await page.getByRole('button', { name: 'Hide Environment' }).click()
  await expect(section(page, 'Environment')).toBeHidden()
  await showSetting(page, 'Environment')
  await expect(section(page, 'Environment').getByLabel('Key', { exact: true })).toBeFocused()
})

test('a filter shows settings of one kind and stays in the address, and a problem leads to its field', async ({
  page,
  testSystem,
}) => {
  const { image, instance, path } = await prepare(testSystem.testEnvironment, {
    environment: environment({ LOG: 'info' }),
    secrets: [row({ key: 'TOKEN', required: true })],
    routing: { domain: 'a.example.com', port: 8080 },
    ports: [row({ internal: 8080 })],
  })
  await page.goto(path(image))
  await expect(section(page, 'Environment')).toBeVisible()
  const kind = (name: string) => page.getByRole('radio', { name, exact: true })
  await kind('In use').focus()
  for (let press = 0; press < 3; press++) await page.keyboard.press('ArrowRight')
  await expect(kind('Docker')).toBeFocused()
  await expect(page).toHaveURL(/fields=docker/)
  // Of the port settings, only those for Docker are shown.
  await expect(section(page, 'Ports').getByRole('switch', { name: 'Keep published ports open' })).toBeVisible()
  await expect(section(page, 'Ports').getByLabel('Inside', { exact: true })).toHaveCount(0)
  await expect(section(page, 'Restart')).toBeVisible()
  await expect(section(page, 'Environment')).toHaveCount(0)
  await page.reload()
  await expect(section(page, 'Restart')).toBeVisible()
  await kind('Kubernetes').click()
  await expect(section(page, 'Annotations')).toBeVisible()
  await expect(section(page, 'Restart')).toHaveCount(0)

  // The link comes from another tab, with a filter that hides the field.
  await page.goto(`${path(instance)}?fields=docker`)
  await page.getByRole('listitem').filter({ hasText: 'TOKEN' }).getByRole('link', { name: 'Open the field' }).click()
  await expect(page.getByLabel('Secret value of TOKEN')).toBeFocused()
})

test('the buckets of a storage are suggested, and any other name can be typed', async ({ page, testSystem }) => {
  const storage = createServer((_, response) => {
    const names = ['pictures', 'texts'].map((name) => `<Bucket><Name>${name}</Name></Bucket>`).join('')
    response.end(`<ListAllMyBucketsResult><Buckets>${names}</Buckets></ListAllMyBucketsResult>`)
  })
  await new Promise<void>((resolve) => storage.listen(0, '127.0.0.1', resolve))
  const { testEnvironment } = testSystem
  const { id } = await testEnvironment.user.client.call('storages.create', {
    params: { teamSlug: testEnvironment.teamSlug },
    body: {
      name: unique('bucket-'),
      icon: null,
      url: `http://127.0.0.1:${(storage.address() as AddressInfo).port}`,
      public: true,
    },
  })
  const { image, path, stored } = await prepare(testEnvironment, {
    volumes: [row({ name: 'data', path: '/data', type: 'rwo' })],
    storage: { storageId: id, bucket: 'texts', path: 'data' },
  })
  await page.goto(path(image))
  const bucket = section(page, 'Storage import').getByLabel('Bucket', { exact: true })
  await expect(section(page, 'Storage import').getByText('2 buckets found')).toBeVisible()
  const list = await bucket.getAttribute('list')
  expect(
    await page
      .locator(`datalist[id="${list}"] option`)
      .evaluateAll((all) => all.map((one) => one.getAttribute('value'))),
  ).toEqual(['pictures', 'texts'])
  await bucket.fill('pictures/v1')
  await saved(page)
  expect((await stored(image)).storage).toMatchObject({ bucket: 'pictures/v1' })
  storage.closeAllConnections()
  await new Promise((resolve) => storage.close(resolve))
  await page.reload()
  await expect(section(page, 'Storage import').getByText('Could not list buckets')).toBeVisible()
  await expect(bucket).toHaveValue('pictures/v1')
})
