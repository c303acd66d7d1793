import { readFile } from 'node:fs/promises'
import {
  createDeployment,
  createService,
  deploy,
  exits,
  finished,
  freePort,
  idle,
  raw,
  setTag,
  startDeployment,
  type TestEnvironment,
  unique,
  web,
} from '@crux/test-kit'
import type { Page } from '@playwright/test'
import { expect, test } from '../kit/journey.ts'
import { answers } from '../kit/service.ts'

const getPage = (testEnvironment: TestEnvironment, deploymentId: string) =>
  `/${testEnvironment.teamSlug}/deployments/${deploymentId}`
const result = (page: Page) => page.getByRole('status', { name: 'Result' })
const instance = (page: Page) => page.getByRole('list', { name: 'Images' }).getByRole('listitem').first()

/** A container that runs but never reaches its expected state. */
const endless = { expectedState: { state: 'exited', timeout: 300, exitCode: 0 } } as const

test('preparing a deployment that is prepared already opens it', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  const prefix = unique('twice')
  const name = unique('Twice ')
  const service = await createService(testEnvironment, [{ name: unique('twice/i'), tag: '1', image: idle() }], { name })
  const existing = await createDeployment(testEnvironment, service, prefix)
  await page.goto(`/${testEnvironment.teamSlug}/deployments`)
  await page.getByRole('button', { name: 'New deployment' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Project').selectOption({ label: name })
  await dialog.getByRole('radio').first().click()
  await dialog.getByLabel('Prefix').fill(prefix)
  await dialog.getByRole('button', { name: 'Create deployment' }).click()
  await page.waitForURL(`**${getPage(testEnvironment, existing.id)}`)
  await expect(page.getByText('one deployment per node and prefix. Here it is.')).toBeVisible()
})

test('a protected deployment is replaced only after a confirmation', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  const { client } = testEnvironment.user
  const prefix = unique('safe')
  const service = await createService(testEnvironment, [{ name: unique('safe/i'), tag: '1', image: idle() }], {
    versioned: '1.0.0',
  })
  const inTeam = { teamSlug: testEnvironment.teamSlug }
  const body = { versionId: service.versionId, nodeId: testEnvironment.nodeId, prefix, protected: true }
  const first = await client.call('deployments.create', { params: inTeam, body })
  expect((await deploy(testEnvironment, first.id)).status).toBe('successful')
  const next = await client.call('versions.increase', {
    params: { ...inTeam, projectId: service.projectId, versionId: service.versionId },
    body: { name: '2.0.0' },
  })
  // Increasing the version copied the deployment, which is in preparation.
  const increased = await client.call('versions.get', {
    params: { ...inTeam, projectId: service.projectId, versionId: next.id },
  })
  const second = increased.deployments[0]
  if (!second) throw new Error('the deployment was not taken along')
  // The copied protection would require a confirmation by itself.
  await client.call('deployments.update', {
    params: { ...inTeam, deploymentId: second.id },
    body: { prefix, protected: false },
  })
  await page.goto(getPage(testEnvironment, second.id))
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  const question = page.getByRole('dialog', { name: 'Replace a protected deployment?' })
  await question.getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByRole('main').getByText('Preparing', { exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await question.getByRole('button', { name: 'Deploy anyway' }).click()
  await page.waitForURL(/\/deploy$/)
  await expect(result(page)).toContainText('1 image deployed', { timeout: 60_000 })
})

test('a copy has a prefix of its own and is prepared, not started', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  const prefix = unique('copy')
  const service = await createService(testEnvironment, [{ name: unique('copy/i'), tag: '1', image: idle() }])
  const deployment = await createDeployment(testEnvironment, service, prefix)
  await page.goto(`/${testEnvironment.teamSlug}/deployments?filter=${prefix}`)
  await page.getByRole('row', { name: prefix }).getByRole('button', { name: 'Copy' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByLabel('Prefix')).toHaveValue(`${prefix}-copy`)
  await dialog.getByRole('button', { name: 'Copy deployment' }).click()
  await page.waitForURL((url) => /deployments\/[0-9a-f-]{36}$/.test(url.pathname) && !url.href.includes(deployment.id))
  await expect(page.getByRole('main').getByText(`${prefix}-copy`).first()).toBeVisible()
  await expect(page.getByRole('main').getByText('Preparing', { exact: true })).toBeVisible()
})

test('a reload during a deployment shows the same progress, and cancelling keeps the previous container answering', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const prefix = unique('stop')
  const name = unique('stop/web')
  const service = await createService(testEnvironment, [{ name, tag: '1', image: web('before') }])
  const deployment = await createDeployment(testEnvironment, service, prefix)
  expect((await deploy(testEnvironment, deployment.id)).status).toBe('successful')
  const [before] = await raw.list(`dev.crux.prefix=${prefix}`)
  await testSystem.registry.push(name, '2', web('after'))
  await setTag(testEnvironment, service, 0, '2')
  const params = { teamSlug: testEnvironment.teamSlug, projectId: service.projectId, versionId: service.versionId }
  await testEnvironment.user.client.call('images.update', {
    params: { ...params, imageId: service.imageIds[0] ?? '' },
    body: { config: endless },
  })
  await startDeployment(testEnvironment, deployment.id)

  await page.goto(`${getPage(testEnvironment, deployment.id)}/deploy`)
  await expect(instance(page).getByText('Verifying')).toBeVisible({ timeout: 30_000 })
  await expect(page.getByText('keeps answering')).toBeVisible()
  await page.reload()
  await expect(instance(page).getByText('Verifying')).toBeVisible()
  await expect(instance(page).getByRole('list')).toContainText('Pull Done')
  const cancel = page.getByRole('button', { name: 'Cancel', exact: true })
  const cancelIt = async () => {
    await cancel.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the release' }).click()
    await expect(cancel).toBeHidden({ timeout: 30_000 })
    await expect(result(page)).toContainText(/cancelled/i)
  }
  await cancelIt()
  await expect(page.getByText(/answers$/)).toBeVisible()
  // The next release is not cancelled yet.
  await startDeployment(testEnvironment, deployment.id)
  await cancelIt()
  const after = await raw.list(`dev.crux.prefix=${prefix}`)
  expect(after.map(({ Id }) => Id)).toEqual([before?.Id])
})

test('the page of a deployment rolls back to an earlier release', async ({ page, testSystem }) => {
  const { testEnvironment } = testSystem
  const prefix = unique('back')
  const port = await freePort()
  const name = unique('back/web')
  const service = await createService(testEnvironment, [
    {
      name,
      tag: '1',
      image: web('first'),
      config: { ports: [{ id: crypto.randomUUID(), internal: 8080, external: port }] },
    },
  ])
  const deployment = await createDeployment(testEnvironment, service, prefix)
  expect((await deploy(testEnvironment, deployment.id)).status).toBe('successful')
  await testSystem.registry.push(name, '2', web('second'))
  await setTag(testEnvironment, service, 0, '2')
  expect((await deploy(testEnvironment, deployment.id)).status).toBe('successful')
  await answers(port, 'second')

  await page.goto(getPage(testEnvironment, deployment.id))
  await page.getByRole('button', { name: 'Roll back', exact: true }).click()
  const question = page.getByRole('dialog', { name: 'Roll back to release 1?' })
  await expect(question).toContainText(`${name.replace('back/', '')} 1`)
  await expect(question.getByText('- tag 2')).toBeVisible()
  await expect(question.getByText('+ tag 1')).toBeVisible()
  await question.getByRole('button', { name: 'Roll back' }).click()
  await page.waitForURL(/\/deploy$/)
  await expect(result(page)).toContainText('1 image deployed', { timeout: 60_000 })
  await answers(port, 'first')
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Log file' }).click()
  expect(await readFile(await (await download).path(), 'utf8')).toContain('successful')
  await page.getByRole('button', { name: 'Earlier release' }).click()
  await expect(page.getByRole('combobox', { name: 'Release' })).toHaveValue('2')
})

test('a port with a downtime can be kept open on request, as the page announces before the start', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const port = await freePort()
  const name = unique('open/web')
  const config = { ports: [{ id: crypto.randomUUID(), internal: 8080, external: port }] }
  const service = await createService(testEnvironment, [{ name, tag: '1', image: web('first'), config }])
  const deployment = await createDeployment(testEnvironment, service, unique('open'))
  expect((await deploy(testEnvironment, deployment.id)).status).toBe('successful')
  await testSystem.registry.push(name, '2', web('second'))
  await setTag(testEnvironment, service, 0, '2')

  await page.goto(`/${testEnvironment.teamSlug}/deployments?filter=${deployment.prefix}`)
  await page.getByRole('row', { name: deployment.prefix }).getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Deploy' }).click()
  await expect(page.getByRole('dialog')).toContainText('is down while it is replaced')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.goto(getPage(testEnvironment, deployment.id))
  await expect(page.getByText(`Port ${port} is closed for about`)).toBeVisible()
  await page.getByRole('button', { name: 'Keep its ports open' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Keep ports open' }).click()
  await expect(page.getByText('+ portGate')).toBeVisible()
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await page.waitForURL(/\/deploy$/)
  await expect(result(page)).toContainText('1 image deployed', { timeout: 60_000 })
  await answers(port, 'second')

  await testSystem.registry.push(name, '3', web('third'))
  await setTag(testEnvironment, service, 0, '3')
  await page.goto(getPage(testEnvironment, deployment.id))
  await expect(page.getByText('- tag 2')).toBeVisible()
  await expect(page.getByText('keeps answering until the new one is verified')).toBeVisible()
  await expect(page.getByText('is closed for about')).toBeHidden()
})

test('starts for one deployment target wait in a queue, show which release is ahead, and advance in order', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const prefix = unique('line')
  const [first, second, third] = await Promise.all(
    (['One ', 'Two ', 'Three '] as const).map(async (word, index) => {
      const name = unique(word)
      const config = { name: `c${index}`, ...(index < 2 && endless) }
      const service = await createService(
        testEnvironment,
        [{ name: unique('line/i'), tag: '1', image: idle(), config }],
        {
          name,
        },
      )
      return { name, projectId: service.projectId, ...(await createDeployment(testEnvironment, service, prefix)) }
    }),
  )
  if (!first || !second || !third) throw new Error('three were prepared')
  for (const { id } of [first, second, third]) await startDeployment(testEnvironment, id)
  const cancel = ({ id }: { id: string }) =>
    testEnvironment.user.client.call('deployments.cancel', {
      params: { teamSlug: testEnvironment.teamSlug, deploymentId: id },
    })

  await page.goto(`/${testEnvironment.teamSlug}/deployments?filter=${prefix}`)
  // The rows that wait link to the release ahead as well.
  const row = ({ name }: { name: string }) =>
    page.getByRole('row').filter({ has: page.locator('[data-row-link]').filter({ hasText: name }) })
  await expect(row(second)).toContainText(`Waiting, 1st in the queue behind ${first.name}`)
  await expect(row(third)).toContainText(`Waiting, 2nd in the queue behind ${first.name}`)
  await expect(row(first)).not.toContainText('in the queue')
  for (const [list, path] of [
    ['Deployments', `nodes/${testEnvironment.nodeId}?section=deployments`],
    ['Deployments', `projects/${third.projectId}?section=deployments`],
    ['Latest deployments', 'dashboard'],
  ] as const) {
    await page.goto(`/${testEnvironment.teamSlug}/${path}`)
    const waiting = page.getByRole('table', { name: list }).getByText(`2nd in the queue behind ${first.name}`)
    await expect(waiting, path).toBeVisible()
  }
  await page.goto(`/${testEnvironment.teamSlug}/deployments?filter=${prefix}`)
  await row(third).getByRole('link', { name: first.name }).click()
  await page.waitForURL(`**${getPage(testEnvironment, first.id)}/deploy`)

  await page.goto(getPage(testEnvironment, third.id))
  await expect(page.getByText(`2nd in the queue behind ${first.name}`)).toBeVisible()
  await cancel(first)
  await expect(page.getByText(`1st in the queue behind ${second.name}`)).toBeVisible({ timeout: 30_000 })
  await page.goto(`${getPage(testEnvironment, third.id)}/deploy`)
  await expect(page.getByText(`1st in the queue behind ${second.name}`)).toBeVisible()
  await cancel(second)
  await expect(result(page)).toContainText('1 image deployed', { timeout: 60_000 })
  await expect(page.getByText('in the queue behind')).toBeHidden()
})

test('a start of selected instances shows what changes, and does not affect the others', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const prefix = unique('some')
  const [port, other] = [await freePort(), await freePort()]
  const publishes = (external: number) => ({ ports: [{ id: crypto.randomUUID(), internal: 8080, external }] })
  const names = [unique('some/web'), unique('some/api')]
  const service = await createService(testEnvironment, [
    { name: names[0] ?? '', tag: '1', image: web('web one'), config: { name: 'web', ...publishes(port) } },
    { name: names[1] ?? '', tag: '1', image: web('api one'), config: { name: 'api', ...publishes(other) } },
  ])
  const deployment = await createDeployment(testEnvironment, service, prefix)
  expect((await deploy(testEnvironment, deployment.id)).status).toBe('successful')
  for (const index of [0, 1]) {
    await testSystem.registry.push(names[index] ?? '', '2', web('two'))
    await setTag(testEnvironment, service, index, '2')
  }
  await page.goto(getPage(testEnvironment, deployment.id))
  await expect(page.getByText(`Port ${other} is closed for about`)).toBeVisible()
  await page.getByRole('checkbox', { name: 'Deploy api' }).click()
  await expect(page.getByText(`Port ${other} is closed for about`)).toBeHidden()
  await expect(page.getByText(`Port ${port} is closed for about`)).toBeVisible()
  await page.getByRole('checkbox', { name: 'Deploy web' }).click()
  await expect(page.getByText('Select at least one image')).toBeVisible()
  await page.getByRole('checkbox', { name: 'Deploy web' }).click()
  await page.getByRole('button', { name: 'Deploy 1 image' }).click()
  await page.waitForURL(/\/deploy$/)
  await expect(result(page)).toContainText('1 image deployed', { timeout: 60_000 })
  await answers(port, 'two')
  await answers(other, 'api one')
})

test('a failed deployment shows what happened and can be deployed again from its page; deleting it deletes the containers', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const prefix = unique('fail')
  const name = unique('fail/job')
  const service = await createService(testEnvironment, [
    { name, tag: '1', image: exits(3, 0, 'no configuration found') },
  ])
  const deployment = await createDeployment(testEnvironment, service, prefix)
  await page.goto(getPage(testEnvironment, deployment.id))
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await page.waitForURL(/\/deploy$/)
  await expect(result(page)).toContainText('stopped right after its start: exit code 3', { timeout: 60_000 })
  await expect(page.getByText('Nothing answers')).toBeVisible()
  expect((await finished(testEnvironment, deployment.id)).status).toBe('failed')

  await testSystem.registry.push(name, '2', idle())
  await setTag(testEnvironment, service, 0, '2')
  await page.getByRole('button', { name: 'Deploy again' }).click()
  await expect(result(page)).toContainText('1 image deployed', { timeout: 60_000 })
  expect(await raw.list(`dev.crux.prefix=${prefix}`)).toHaveLength(1)

  await page.goto(getPage(testEnvironment, deployment.id))
  await page.getByRole('button', { name: 'More actions' }).first().click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('checkbox').click()
  await dialog.getByRole('button', { name: 'Delete with containers' }).click()
  await page.waitForURL(/\/projects\//)
  await expect.poll(async () => (await raw.list(`dev.crux.prefix=${prefix}`)).length, { timeout: 30_000 }).toBe(0)
})

test('the page of an earlier release whose log was deleted states that, and still shows its outcome', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const name = unique('kept/i-')
  const service = await createService(testEnvironment, [{ name, tag: '1', image: idle(), config: { name: 'web' } }])
  const { id } = await createDeployment(testEnvironment, service, unique('kept'))
  await deploy(testEnvironment, id)
  await deploy(testEnvironment, id)
  // The nightly job of the server deletes logs only after 90 days, so this test replaces the answer. A server test covers the answer itself.
  await page.route(/\/deployments\/[^/]+\/releases$/, async (route) => {
    const response = await route.fetch()
    const releases: { number: number }[] = await response.json()
    const json = releases.map((one) => (one.number === 1 ? { ...one, logRemovedAfterDays: 90 } : one))
    await route.fulfill({ response, json })
  })
  await page.route(/\/deployments\/[^/]+\/log\?/, (route) => route.fulfill({ json: { items: [], total: 0 } }))
  await page.goto(`/${testEnvironment.teamSlug}/deployments/${id}/deploy?try=1`)
  await expect(page.getByText('The log of this release was removed after 90 days.')).toBeVisible()
  const release = page.getByRole('region', { name: 'Release', exact: true })
  await expect(release.getByText('Successful')).toBeVisible()
  await expect(page.getByRole('list', { name: 'Images' })).toContainText('web')
  await expect(page.getByRole('link', { name: 'Log file' })).toHaveCount(0)
  await page.getByRole('button', { name: 'Later release' }).click()
  await expect(page.getByText('Release succeeded')).toBeVisible()
  await expect(page.getByText('was removed after')).toHaveCount(0)
})
