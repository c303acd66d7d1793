import type { ResponseOf } from '@crux/contract'
import { expect, type Page } from '@playwright/test'
import type { Shot } from './deployment-shots.ts'
import type { Fixture } from './fixture.ts'

type Notification = ResponseOf<'notifications.get'>
type Delivery = ResponseOf<'notifications.deliveries'>['items'][number]

const toId = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString()

const gone = 'The address answered 410: it does not exist any more. Enter a new address and switch the notification on.'
const all: Notification[] = [
  ['Shop channel', 'slack', 'https://hooks.slack.com/services/T0ABCDEFGH/••••'],
  ['Players', 'discord', 'https://discord.com/api/webhooks/4711/••••'],
  ['Operations', 'teams', 'https://acme.webhook.office.com/webhookb2/••••'],
  ['Office chat', 'rocket', 'https://chat.example.com/hooks/••••'],
  ['Data team', 'mattermost', 'https://mattermost.example.com/hooks/••••'],
  ['On call', 'email', ''],
  ['Change log', 'webhook', 'https://changes.example.com/••••'],
].map(([name = '', type, url = ''], index) => ({
  id: toId(index + 1),
  name,
  type: type as Notification['type'],
  url,
  active: index !== 3 && index !== 1,
  problem: index === 1 ? gone : null,
  enabledEvents: ['deployment-status', 'node-unreachable', 'node-back', 'image-pushed'],
  ...(type === 'email' && { members: [{ id: toId(9), name: 'Ada Lovelace', email: 'ada@example.com' }] }),
  hasSecret: type === 'webhook',
  createdAt: ago(86_400),
  updatedAt: ago(3_600),
}))
const [slack, discord, , , , mail, webhook] = all

const deployed = (result: string) => `Deployment of Checkout 1.1.0 to eu-west-1 ${result}, started by Ada Lovelace`
const delivery = (index: number, parts: Partial<Delivery>): Delivery => ({
  id: toId(100 + index),
  event: 'deployment-status',
  text: deployed('was successful'),
  createdAt: ago(index * 1_000),
  status: 'delivered',
  attempts: 1,
  statusCode: 204,
  lastAttemptAt: ago(index * 1_000),
  finishedAt: ago(index * 1_000),
  ...parts,
})
const log = (): Delivery[] =>
  [
    delivery(0, {
      text: deployed('failed'),
      status: 'pending',
      attempts: 3,
      statusCode: 503,
      error: 'answer',
      nextAttemptAt: ago(-272),
      finishedAt: null,
    }),
    delivery(1, { event: 'test', text: 'This is a test message of Crux.' }),
    delivery(2, {}),
    delivery(3, { event: 'node-unreachable', text: 'Node eu-west-1 is unreachable', status: 'failed', attempts: 14 }),
    delivery(4, { event: 'image-pushed', text: `acme/${'very-long-name-'.repeat(9)}:1.0.0 was pushed to Harbor` }),
    delivery(5, { event: 'node-back', text: 'Node eu-west-1 is connected again', status: 'skipped', attempts: 0 }),
  ].map((each) => ({
    ...each,
    ...(each.status === 'failed' && { statusCode: null, error: 'timeout' }),
    ...(each.status === 'skipped' && { statusCode: null, lastAttemptAt: null }),
  }))

/** Answers the requests of the pages: the list, each notification, and its log. */
async function answer(page: Page, deliveries: readonly Delivery[], notifications: readonly Notification[] = all) {
  await leaveForm(page)
  await page.route(/\/api\/[^/]+\/notifications(\/|\?|$)/, (route) => {
    const [, id, log] = new URL(route.request().url()).pathname.split('/notifications')[1]?.split('/') ?? []
    if (log) return route.fulfill({ json: { items: deliveries, total: deliveries.length } })
    return route.fulfill({ json: id ? notifications.find((each) => each.id === id) : notifications })
  })
}

/** The form of the shot before asks about what was typed. */
async function leaveForm(page: Page) {
  if ((await dialog(page).count()) === 0) return
  await page.keyboard.press('Escape')
  const leave = page.getByRole('button', { name: 'Leave', exact: true })
  await expect(async () => {
    if (await leave.isVisible()) await leave.click()
    await expect(dialog(page)).toHaveCount(0, { timeout: 500 })
  }).toPass()
}

const path = (fixture: () => Fixture, rest = '') => `/${fixture().team}/notifications${rest}`
const dialog = (page: Page) => page.getByRole('dialog')

/** Screenshots of the pages of notifications. Their requests are answered here, so that each status and kind of error is shown. */
export function notificationShots(fixture: () => Fixture): Shot[] {
  const details = (name: string, notification: Notification | undefined, deliveries: () => Delivery[]): Shot => ({
    name,
    path: () => path(fixture, `/${notification?.id}`),
    before: (page) => answer(page, deliveries()),
    act: (page) => expect(page.getByRole('heading', { name: notification?.name ?? '', level: 1 })).toBeVisible(),
  })
  const form = (name: string, act: (page: Page) => Promise<unknown>): Shot => ({
    name,
    path: () => path(fixture, '#new'),
    before: (page) => answer(page, []),
    act: async (page) => {
      await expect(dialog(page)).toBeVisible()
      await act(page)
    },
  })
  const choose = (page: Page, type: string) => dialog(page).getByRole('radio', { name: type, exact: true }).click()
  return [
    { name: 'notifications', path: () => path(fixture), before: (page) => answer(page, []) },
    { name: 'notifications-empty', path: () => `/${fixture().emptyTeam}/notifications` },
    details('notification', slack, log),
    details('notification-switched-off', discord, () => []),
    details('notification-email', mail, () =>
      log().map((each) => ({ ...each, statusCode: null, recipient: 'Ada Lovelace' })),
    ),
    {
      ...details('notification-delivery', slack, log),
      act: async (page) => {
        await page
          .getByRole('button', { name: 'Show details' })
          .or(page.getByRole('button', { name: 'More actions' }))
          .first()
          .click()
        await expect(dialog(page).or(page.getByRole('menu'))).toBeVisible()
      },
    },
    {
      ...details('notification-test-failed', webhook, log),
      before: async (page) => {
        await answer(page, log())
        await page.route(/\/notifications\/[^/]+\/test$/, (route) =>
          route.fulfill({
            status: 400,
            json: { error: 'invalidArgument', message: 'x', property: 'url', description: 'The address answered 404.' },
          }),
        )
      },
      act: async (page) => {
        await page.getByRole('button', { name: 'Send test' }).click()
        await expect(page.getByText('The test message was not delivered.')).toBeVisible()
      },
    },
    form('notification-create', (page) => choose(page, 'Slack')),
    form('notification-create-refused', async (page) => {
      await choose(page, 'Discord')
      await dialog(page).getByLabel('Address').fill('https://example.com/hook')
      await dialog(page).getByRole('button', { name: 'Create notification' }).click()
    }),
    form('notification-create-email', (page) => choose(page, 'E-mail')),
    form('notification-create-webhook', async (page) => {
      await choose(page, 'Webhook')
      await dialog(page).getByRole('button', { name: 'Generate' }).click()
    }),
    {
      ...details('notification-edit', webhook, log),
      path: () => path(fixture, `/${webhook?.id}#edit`),
      act: (page) => expect(dialog(page).getByText('A signing secret is stored.')).toBeVisible(),
    },
    {
      name: 'notifications-failing',
      path: () => path(fixture),
      before: (page) =>
        page.route(/\/api\/[^/]+\/notifications$/, (route) =>
          route.fulfill({ status: 500, json: { error: 'internal', message: 'x', requestId: 'r-4711' } }),
        ),
      act: (page) => expect(page.getByText('This could not be loaded')).toBeVisible({ timeout: 20_000 }),
    },
  ]
}
