import {
  createDeployment,
  createService,
  deploy,
  idle,
  signUp,
  type TestEnvironment,
  unique,
  waitFor,
} from '@crux/test-kit'
import type { Page } from '@playwright/test'
import pg from 'pg'
import { signIn } from '../kit/console.ts'
import { expect, signedOut, test } from '../kit/journey.ts'
import { isSigned, type Receiver, startReceiver } from '../kit/receiver.ts'
import type { TestSystem } from '../kit/test-system.ts'

let receiver: Receiver
test.beforeEach(async () => {
  receiver = await startReceiver()
})
// Other journeys do not expect what these notifications send.
test.afterEach(async ({ testSystem }) => {
  const { user, teamSlug } = testSystem.testEnvironment
  for (const { id } of await user.client.call('notifications.list', { params: { teamSlug } }))
    await user.client.call('notifications.delete', { params: { teamSlug, notificationId: id } })
  await receiver.close()
})

const form = (page: Page) => page.getByRole('dialog')
const log = (page: Page) => page.getByRole('table', { name: 'Deliveries' })
const logRow = (page: Page, event: string) => log(page).getByRole('row').filter({ hasText: event }).first()

/** Opens the form of a new notification, and enters what all types have. */
async function beginForm(page: Page, teamSlug: string, type: string): Promise<string> {
  const name = unique(`${type} `)
  await page.goto(`/${teamSlug}/notifications#new`)
  await form(page).getByLabel('Name', { exact: true }).fill(name)
  await form(page).getByRole('radio', { name: type, exact: true }).click()
  return name
}

const submit = (page: Page) => form(page).getByRole('button', { name: 'Create notification' }).click()

/** A webhook at the receiver, created in the browser. @returns its secret */
async function createWebhook(page: Page, teamSlug: string): Promise<{ name: string; secret: string }> {
  const name = await beginForm(page, teamSlug, 'Webhook')
  await form(page).getByLabel('Address').fill(`${receiver.url}/hidden-path`)
  await form(page).getByRole('button', { name: 'Generate' }).click()
  const secret = (await form(page).locator('pre').first().textContent()) ?? ''
  await submit(page)
  await expect(page.getByRole('heading', { name, level: 1 })).toBeVisible()
  return { name, secret }
}

/** A request of the receiver in the form in which the documentation describes it. */
const read = ({ headers, body }: Receiver['received'][number]) => ({
  event: headers['x-crux-event'],
  delivery: headers['x-crux-delivery'],
  ...(JSON.parse(body) as { text: string; team: unknown }),
})

/** An event that needs no container. */
async function addNode({ user, teamSlug }: TestEnvironment): Promise<string> {
  const name = unique('announced-')
  const { id } = await user.client.call('nodes.create', { params: { teamSlug }, body: { name } })
  await user.client.call('nodes.delete', { params: { teamSlug, nodeId: id } })
  return name
}

/** An hour passes for the deliveries that wait, so that they are due. */
async function passHour({ system }: TestSystem): Promise<void> {
  const client = new pg.Client({ connectionString: system.databaseUrl })
  await client.connect()
  await client.query(`update crux.notification_delivery set created_at = created_at - interval '1 hour',
    last_attempt_at = last_attempt_at - interval '1 hour', next_attempt_at = now() where status = 'pending'`)
  await client.end()
}

test('the end of a deployment arrives once with a valid signature, and can be sent again', async ({
  page,
  testSystem,
}) => {
  const { testEnvironment } = testSystem
  const { secret } = await createWebhook(page, testEnvironment.teamSlug)
  // Neither the address nor the secret can be read again.
  await expect(page.getByText(`${receiver.url}/••••`)).toBeVisible()
  await expect(page.getByText('Signed with the stored secret')).toBeVisible()
  expect(await page.content()).not.toContain(secret)
  expect(await page.content()).not.toContain('hidden-path')

  await page.getByRole('button', { name: 'Send test' }).click()
  await expect(page.getByText('The test message was delivered.')).toBeVisible()
  await expect(logRow(page, 'Test message')).toContainText('Delivered')
  expect(receiver.received.map(read)).toMatchObject([{ event: 'test' }])

  const project = unique('Announced ')
  const image = { name: unique('announced/'), tag: '1', image: idle('up'), config: { name: 'app' } }
  const service = await createService(testEnvironment, [image], { name: project })
  const { id } = await createDeployment(testEnvironment, service, unique('announced'))
  await deploy(testEnvironment, id)
  const row = logRow(page, 'Deployment ended')
  await expect(row).toContainText('Delivered', { timeout: 30_000 })
  await expect(row).toContainText(project)

  await row.getByRole('button', { name: 'Send again' }).click()
  await expect(log(page).getByRole('row').filter({ hasText: 'Deployment ended' })).toHaveCount(2)
  await expect(row).toContainText('Delivered')
  const ended = receiver.received.filter(({ headers }) => headers['x-crux-event'] === 'deployment-status')
  // Once for the event, and once more on demand.
  expect(ended).toHaveLength(2)
  expect(new Set(ended.map((request) => read(request).delivery)).size).toBe(2)
  for (const request of receiver.received) {
    expect(isSigned(request, secret)).toBe(true)
    expect(isSigned({ ...request, body: `${request.body} ` }, secret)).toBe(false)
    expect(request.path).toBe('/hidden-path')
  }
  expect(ended.map(read)[0]?.text).toContain(project)
})

test('a test message that is refused says why on the page, and an address can be replaced without the stored one', async ({
  page,
  testSystem,
}) => {
  const { name, secret } = await createWebhook(page, testSystem.testEnvironment.teamSlug)
  receiver.answerWith(404)
  await page.getByRole('button', { name: 'Send test' }).click()
  const result = page.getByRole('status', { name: 'Result of the test' })
  await expect(result).toContainText('The test message was not delivered.')
  await expect(result).toContainText('404')
  await expect(logRow(page, 'Test message')).toContainText('Failed')

  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await expect(form(page).getByLabel('New address')).toHaveCount(0)
  await form(page).getByRole('button', { name: 'Replace address' }).click()
  await form(page)
    .getByLabel('New address')
    .fill(`${receiver.url.replace('127.0.0.1', 'localhost')}/moved`)
  await expect(form(page).getByText('The stored secret belongs to the previous host')).toBeVisible()
  await form(page).getByLabel('New address').fill(`${receiver.url}/moved`)
  await form(page).getByRole('button', { name: 'Keep the stored secret' }).click()
  await form(page).getByRole('button', { name: 'Save' }).click()
  await expect(form(page)).toHaveCount(0)

  receiver.answerWith(200)
  await expect(async () => {
    await page.getByRole('button', { name: 'Send test' }).click()
    await expect(result).toContainText('The test message was delivered.', { timeout: 1_000 })
  }).toPass()
  const last = receiver.received.at(-1)
  expect(last?.path).toBe('/moved')
  expect(last && isSigned(last, secret)).toBe(true)
  await expect(page.getByRole('heading', { name, level: 1 })).toBeVisible()
})

test('an event whose target is down for an hour arrives once when the target is back', async ({ page, testSystem }) => {
  await createWebhook(page, testSystem.testEnvironment.teamSlug)
  receiver.answerWith(503)
  const node = await addNode(testSystem.testEnvironment)
  const row = logRow(page, node)
  await expect(row).toContainText('Pending', { timeout: 30_000 })
  await expect(row).toContainText('Answered 503')
  await expect(row.getByText(/^in \d+ s$|^now$/)).toBeVisible()
  await expect(row.getByRole('button', { name: 'Send again' })).toHaveAttribute('aria-disabled', 'true')

  await passHour(testSystem)
  await waitFor('the next attempt', async () => receiver.received.length >= 2, { timeoutMs: 30_000 })
  await expect(row).toContainText('Pending')
  receiver.answerWith(200)
  await waitFor('the attempt after the target is back', async () => {
    await passHour(testSystem)
    return receiver.received.some(({ status }) => status === 200)
  })
  await expect(row).toContainText('Delivered', { timeout: 20_000 })
  await row.getByRole('button', { name: 'Show details' }).click()
  await expect(form(page)).toContainText(node)
  const arrived = receiver.received.filter(({ status }) => status === 200)
  expect(arrived).toHaveLength(1)
  // A receiver recognizes an attempt that it has seen by the id of the delivery.
  expect(new Set(receiver.received.map((request) => read(request).delivery)).size).toBe(1)
})

test('an address that is gone switches the notification off, which says so until an admin switches it on', async ({
  page,
  testSystem,
}) => {
  const { teamSlug } = testSystem.testEnvironment
  const { name } = await createWebhook(page, teamSlug)
  receiver.answerWith(410)
  await addNode(testSystem.testEnvironment)
  await expect(page.getByRole('note')).toContainText('The address answered 410', { timeout: 30_000 })
  await expect(logRow(page, 'Node added').getByRole('button', { name: 'Send again' })).toHaveAttribute(
    'aria-disabled',
    'true',
  )
  await page.goto(`/${teamSlug}/notifications`)
  const row = page.getByRole('row').filter({ hasText: name })
  await expect(row).toContainText('Switched off')
  await expect(row).toContainText('410')

  await row.getByRole('link', { name }).click()
  await page.getByRole('button', { name: 'Switch on' }).click()
  await expect(page.getByRole('button', { name: 'Switch off' })).toBeVisible()
  await expect(page.getByRole('note')).toHaveCount(0)
})

const chats = {
  Discord: 'https://discord.com/api/webhooks/123456789012345678/hidden-token',
  Slack: 'https://hooks.slack.com/services/T0123456789/B0123456789/hiddenhiddenhiddenhidden',
  Teams:
    'https://acme.webhook.office.com/webhookb2/11111111-2222-3333-4444-555555555555@66666666-7777-8888-9999-000000000000/IncomingWebhook/hidden/22222222-3333-4444-5555-666666666666',
  'Rocket.Chat': 'https://chat.example.com/hooks/0123456789abcdef01234567/hiddenhiddenhiddenhiddenhiddenhi',
  Mattermost: 'https://chat.example.com/hooks/hiddenhiddenhiddenhidden',
}

test('each chat refuses an address of another kind with an example, and shows its own only masked', async ({
  page,
  testSystem,
}) => {
  const { teamSlug } = testSystem.testEnvironment
  for (const [type, address] of Object.entries(chats)) {
    const name = await beginForm(page, teamSlug, type)
    await form(page).getByLabel('Address').fill('https://example.com/hook')
    // Nothing is sent to the services themselves.
    await form(page).getByRole('switch', { name: 'Active' }).click()
    await submit(page)
    await expect(form(page).getByText('Write an address such as https://')).toBeVisible()
    await form(page).getByLabel('Address').fill(address)
    await submit(page)
    await expect(page.getByRole('heading', { name, level: 1 })).toBeVisible()
    await expect(page.getByText('••••')).toBeVisible()
    await expect(page.getByText('Inactive', { exact: true })).toBeVisible()
    expect(await page.content()).not.toContain(address.slice(-12))
  }
  await page.goto(`/${teamSlug}/notifications`)
  await expect(page.getByRole('row').filter({ hasText: 'Inactive' })).toHaveCount(Object.keys(chats).length)
  await page.getByLabel('Filter by name, type or address').fill('mattermost')
  await expect(page.getByRole('row').filter({ hasText: 'Inactive' })).toHaveCount(1)
})

test('an e-mail arrives at the chosen member', async ({ page, testSystem }) => {
  const { testEnvironment, system } = testSystem
  const { user, teamSlug } = testEnvironment
  const name = await beginForm(page, teamSlug, 'E-mail')
  await submit(page)
  await expect(form(page).getByText('Select at least one member')).toBeVisible()
  await form(page).getByRole('checkbox', { name: user.email }).click()
  await submit(page)
  await expect(page.getByRole('heading', { name, level: 1 })).toBeVisible()
  await expect(page.getByText(user.email)).toBeVisible()
  const node = await addNode(testEnvironment)
  await expect(logRow(page, node)).toContainText('Delivered', { timeout: 30_000 })
  const mails = await user.client.call('mails.list', { body: { token: system.mails?.token ?? '' } })
  expect(mails.filter(({ to, text }) => to === user.email && text.includes(node))).toHaveLength(1)
})

test('users see notifications and their log, and may change neither', async ({
  page,
  browser,
  baseURL,
  testSystem,
}) => {
  const { testEnvironment, system } = testSystem
  const { teamSlug, teamId, user } = testEnvironment
  const { name } = await createWebhook(page, teamSlug)
  await page.getByRole('button', { name: 'Send test' }).click()
  await expect(logRow(page, 'Test message')).toBeVisible()
  const grace = await signUp(system.url, { firstName: 'Grace', lastName: 'Hopper' })
  const invitation = { email: grace.email, firstName: 'Grace', lastName: 'Hopper' }
  await user.client.call('teams.invite', { params: { teamId }, body: invitation })
  await grace.client.call('users.accept-invitation', { params: { teamId } })
  const context = await browser.newContext({ storageState: signedOut, baseURL })
  const graces = await context.newPage()
  await signIn(graces, system.url, grace)

  await graces.goto(`/${teamSlug}/notifications`)
  await expect(graces.getByRole('button', { name: 'New notification' })).toHaveAttribute('aria-disabled', 'true')
  await graces.getByRole('link', { name }).click()
  await expect(logRow(graces, 'Test message')).toContainText('Delivered')
  for (const control of ['Send test', 'Switch off', 'Edit', 'Delete', 'Send again'])
    await expect(graces.getByRole('button', { name: control, exact: true }).first()).toHaveAttribute(
      'aria-disabled',
      'true',
    )
  await graces.goto(`${graces.url()}#edit`)
  await expect(graces.getByRole('heading', { name, level: 1 })).toBeVisible()
  await expect(graces.getByRole('dialog')).toHaveCount(0)
  await context.close()
  await grace.client.call('teams.leave', { params: { teamId } })
})
