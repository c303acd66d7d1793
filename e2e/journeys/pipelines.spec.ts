import { idle, signUp, type TestUser, unique, waitFor } from '@crux/test-kit'
import type { Browser, Page } from '@playwright/test'
import { signIn } from '../kit/console.ts'
import { expect, signedOut, test } from '../kit/journey.ts'
import { type PipelineService, startPipelineServices } from '../kit/pipeline-services.ts'
import { startReceiver } from '../kit/receiver.ts'
import { configureHook } from '../kit/registry-hook.ts'
import { startTestSystem } from '../kit/test-system.ts'

// A system of its own, which knows the addresses of the services.
type System = Awaited<ReturnType<typeof startTestSystem>>
let services: Awaited<ReturnType<typeof startPipelineServices>>
let system: System
test.use({ storageState: signedOut })
test.beforeAll(async () => {
  test.setTimeout(120_000)
  services = await startPipelineServices()
  system = await startTestSystem({ env: services.env })
})
test.afterAll(async () => {
  await system?.end()
  await services?.stop()
})

async function openAs(browser: Browser, user: TestUser): Promise<Page> {
  const context = await browser.newContext({ baseURL: system.system.url, storageState: signedOut })
  const page = await context.newPage()
  await signIn(page, system.system.url, user)
  return page
}

/** Fills the form of a new pipeline with one input, and ends on its page. */
async function createPipeline(page: Page, service: PipelineService, name: string): Promise<void> {
  await page.goto(`/${system.testEnvironment.teamSlug}/pipelines`)
  await page.getByRole('button', { name: 'New pipeline' }).first().click()
  const form = page.getByRole('dialog', { name: 'New pipeline' })
  await form.getByLabel('Name', { exact: true }).fill(name)
  await form.getByRole('radio', { name: service.name }).click()
  for (const [label, value] of Object.entries(service.fields)) await form.getByLabel(label, { exact: true }).fill(value)
  await form.getByRole('button', { name: 'Add input' }).click()
  await form.getByLabel('Key', { exact: true }).fill('IMAGE')
  await form.getByLabel('Value', { exact: true }).fill('none')
  await form.getByLabel('Access token').fill('not the token')
  await form.getByRole('button', { name: 'Create pipeline' }).click()
  await expect(form.getByLabel('Access token')).toHaveAttribute('aria-invalid', 'true')
  await form.getByLabel('Access token').fill(service.token)
  await form.getByRole('button', { name: 'Create pipeline' }).click()
  await expect(page.getByRole('heading', { name, level: 1 })).toBeVisible()
  await expect(page.getByText('Webhook active')).toBeVisible()
  expect(service.countHooks()).toBe(1)
}

async function addWatcher(page: Page, name: string, start: string): Promise<void> {
  const { user, teamSlug, registryId } = system.testEnvironment
  const registry = await user.client.call('registries.get', { params: { teamSlug, registryId } })
  await page.getByRole('button', { name: 'Add event watcher' }).click()
  const form = page.getByRole('dialog', { name: 'New event watcher' })
  await form.getByLabel('Name', { exact: true }).fill(name)
  await form.getByLabel('Registry').selectOption({ label: registry.name })
  await form.getByLabel('Image name starts with').fill(start)
  await form.getByRole('button', { name: 'Add input' }).click()
  await form.getByLabel('Key', { exact: true }).fill('IMAGE')
  await form.getByLabel('Value', { exact: true }).focus()
  await form.getByRole('button', { name: 'Insert {{imageName}}' }).click()
  await form.getByLabel('Value', { exact: true }).pressSequentially(':')
  await form.getByRole('button', { name: 'Insert {{imageTag}}' }).click()
  await expect(form.getByLabel('Value', { exact: true })).toHaveValue('{{imageName}}:{{imageTag}}')
  await expect(form.getByRole('region', { name: 'Preview' }).getByText(`${start}:1.2.0`, { exact: true })).toBeVisible()
  await form.getByRole('button', { name: 'Create event watcher' }).click()
  await expect(page.getByRole('table', { name: 'Event watchers' }).getByRole('row', { name })).toBeVisible()
}

const removePipelines = async () => {
  const { user, teamSlug } = system.testEnvironment
  for (const { id } of await user.client.call('pipelines.list', { params: { teamSlug } }))
    await user.client.call('pipelines.delete', { params: { teamSlug, pipelineId: id } })
}

for (const kind of ['azure', 'github', 'gitlab'] as const)
  test(`a push at a registry starts a run of ${kind} by a watcher, its page follows the run, and a receiver is notified`, async ({
    browser,
  }) => {
    const service = services[kind]
    const { testEnvironment } = system
    const { user, teamSlug, registry } = testEnvironment
    const page = await openAs(browser, user)
    await configureHook(page, testEnvironment)
    const receiver = await startReceiver()
    const params = { teamSlug }
    const notification = await user.client.call('notifications.create', {
      params,
      body: {
        name: unique('Pushes '),
        type: 'webhook',
        url: `${receiver.url}/hook`,
        active: true,
        enabledEvents: ['image-pushed'],
      },
    })

    const name = unique('Release ')
    const image = unique('shop-')
    await createPipeline(page, service, name)
    await addWatcher(page, 'Pushes of the shop', image)
    await registry.push(image, '1.0', idle('one'))
    await registry.push(unique('other-'), '1.0', idle('other'))

    const runs = page.getByRole('table', { name: 'Runs' })
    const run = runs.getByRole('row').filter({ hasText: 'Pushes of the shop' })
    await expect(run.getByText(/Queued|Running/)).toBeVisible({ timeout: 20_000 })
    expect((await service.getInputs()).IMAGE).toBe(`${image}:1.0`)
    await expect(run.getByRole('link', { name: /^Run \d+/ })).toHaveAttribute('href', /^https:/)
    await service.finish('successful')
    await expect(run.getByText('Successful')).toBeVisible({ timeout: 20_000 })
    await expect(runs.getByRole('row')).toHaveCount(2)
    await run.getByRole('button', { name: 'Show details' }).click()
    await expect(page.getByRole('dialog').getByText(`${image}:1.0`)).toBeVisible()
    await page.keyboard.press('Escape')
    expect(service.countRuns()).toBe(1)

    await waitFor('the receiver was notified of the push', async () =>
      receiver.received.some(({ body }) => body.includes(image)),
    )
    expect(receiver.received.filter(({ body }) => body.includes(image))).toHaveLength(1)

    await page.getByRole('button', { name: 'Delete', exact: true }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete pipeline' }).click()
    await expect(page.getByText(`${name} deleted`)).toBeVisible()
    expect(service.countHooks()).toBe(0)
    await user.client.call('notifications.delete', { params: { ...params, notificationId: notification.id } })
    await user.client.call('registries.delete-token', { params: { ...params, registryId: testEnvironment.registryId } })
    await receiver.close()
    await page.context().close()
  })

test('a member triggers a pipeline from the list with other values, and an admin with other keys', async ({
  browser,
}) => {
  const { user, teamSlug, teamId } = system.testEnvironment
  const service = services.gitlab
  const admin = await openAs(browser, user)
  const name = unique('Nightly ')
  await createPipeline(admin, service, name)

  const grace = await signUp(system.system.url, { firstName: 'Grace', lastName: 'Hopper' })
  const params = { teamId }
  const body = { email: grace.email, firstName: 'Grace', lastName: 'Hopper' }
  await user.client.call('teams.invite', { params, body })
  await grace.client.call('users.accept-invitation', { params })
  const page = await openAs(browser, grace)
  await page.goto(`/${teamSlug}/pipelines`)
  await expect(page.getByRole('button', { name: 'New pipeline' })).toHaveAttribute('aria-disabled', 'true')
  await page.getByRole('button', { name: `Trigger ${name}` }).click()
  await expect(page).toHaveURL(/#trigger$/)
  const dialog = page.getByRole('dialog', { name: `Trigger ${name}` })
  await expect(dialog.getByLabel('Key', { exact: true })).toHaveJSProperty('readOnly', true)
  await expect(dialog.getByRole('button', { name: 'Add input' })).toHaveAttribute('aria-disabled', 'true')
  await dialog.getByLabel('Value', { exact: true }).fill('shop:2.0')
  await dialog.getByRole('button', { name: 'Trigger', exact: true }).click()
  await expect(dialog.getByText(`Start ${name} at GitLab on its default branch?`)).toBeVisible()
  const before = service.countRuns()
  await dialog.getByRole('button', { name: 'Start the run' }).click()
  await expect(dialog).toBeHidden()
  const run = page.getByRole('table', { name: 'Runs' }).getByRole('row').filter({ hasText: 'Grace Hopper' })
  await expect(run.getByText(/Queued|Running/)).toBeVisible()
  expect(service.countRuns()).toBe(before + 1)
  expect(await service.getInputs()).toMatchObject({ IMAGE: 'shop:2.0' })

  // The page of the admin got the run without being loaded again.
  const seen = admin.getByRole('table', { name: 'Runs' }).getByRole('row').filter({ hasText: 'Grace Hopper' })
  await expect(seen).toBeVisible()
  await service.finish('failed')
  await expect(seen.getByText('Failed')).toBeVisible()

  await admin.keyboard.press('Control+k')
  await admin.getByPlaceholder('Search by name').fill(`Trigger ${name}`)
  await admin.getByRole('option', { name: `Trigger ${name}` }).click()
  const full = admin.getByRole('dialog', { name: `Trigger ${name}` })
  await full.getByRole('button', { name: 'Add input' }).click()
  await full.getByLabel('Key', { exact: true }).nth(1).fill('IMAGE')
  await full.getByRole('button', { name: 'Trigger', exact: true }).click()
  await expect(full.getByText('This key is there already')).toBeVisible()
  await full.getByLabel('Key', { exact: true }).nth(1).fill('DEBUG')
  await full.getByLabel('Value', { exact: true }).nth(1).fill('yes')
  await full.getByRole('button', { name: 'Trigger', exact: true }).click()
  await full.getByRole('button', { name: 'Start the run' }).click()
  await expect(full).toBeHidden()
  expect(await service.getInputs()).toMatchObject({ IMAGE: 'none', DEBUG: 'yes' })

  await removePipelines()
  await page.context().close()
  await admin.context().close()
})
