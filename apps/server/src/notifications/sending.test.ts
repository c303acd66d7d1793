import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../test/kit/index.ts'
import { makeNotificationTestEnvironment, type NotificationTestEnvironment } from '../../test/notification-kit.ts'
import { claimDeliveries, finishAttempt } from './delivery-store.ts'
import { deleteDeliveries } from './retention.ts'
import { createSender } from './sender.ts'

let fixture: NotificationTestEnvironment
beforeAll(async () => {
  fixture = await makeNotificationTestEnvironment()
})
afterAll(() => fixture.stop())
beforeEach(() => fixture.reset())

const secret = 'a secret of the webhook'

describe('an event', () => {
  it('arrives once, with a signature that its receiver can verify, although two servers handle it', async () => {
    const hook = await fixture.createWebhook({ secret })
    const { id: nodeId } = await fixture.notifications.addNode('Rack 9')
    const delivery = await hook.waitFor('delivered')
    expect(delivery).toMatchObject({
      event: 'node-added',
      text: 'Ada added the node Rack 9.',
      attempts: 1,
      statusCode: 204,
    })
    const [received, ...more] = hook.received()
    expect(more).toEqual([])
    if (!received) throw new Error('nothing was received')
    const { headers, body } = received
    const timestamp = String(headers['x-crux-timestamp'])
    expect(Math.abs(Date.now() / 1_000 - Number(timestamp))).toBeLessThan(60)
    const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-crux-event': 'node-added',
      'x-crux-delivery': delivery.id,
      'x-crux-signature': `sha256=${signature}`,
    })
    expect(JSON.parse(body)).toEqual({
      id: delivery.id,
      event: 'node-added',
      createdAt: expect.stringMatching(/^2\d{3}-/),
      team: { id: fixture.team.id, slug: fixture.team.slug, name: fixture.team.name },
      text: 'Ada added the node Rack 9.',
      // Each of the two servers has an address of its own here.
      url: expect.stringMatching(new RegExp(`^http://localhost:\\d+/${fixture.team.slug}/nodes/${nodeId}$`)),
      data: { nodeId, nodeName: 'Rack 9', by: 'Ada' },
    })
  })

  it('that is handled again by both servers at once leads to one delivery per notification', async () => {
    const hooks = [await fixture.createWebhook(), await fixture.createWebhook()]
    const one = fixture.event()
    await Promise.all([
      fixture.emit(one),
      fixture.emit(one, fixture.second),
      fixture.emit(one),
      fixture.emit(one, fixture.second),
    ])
    for (const hook of hooks) await hook.waitFor('delivered')
    await fixture.emit(one, fixture.second)
    expect(await Promise.all(hooks.map(async ({ deliveries }) => (await deliveries()).length))).toEqual([1, 1])
    expect(hooks.map(({ received }) => received().length)).toEqual([1, 1])
  })

  it('goes to active notifications of its team that want it, and to no others', async () => {
    const wanted = await fixture.createWebhook()
    const inactive = await fixture.createWebhook({ active: false })
    const others = await fixture.createWebhook({ enabledEvents: ['node-back'] })
    const owner = fixture.server.signUp()
    const team = await fixture.server.createTeam(owner)
    const params = { teamSlug: team.slug }
    const body = {
      name: 'Foreign',
      type: 'webhook' as const,
      url: `${fixture.receiver.url}/foreign`,
      active: true,
      enabledEvents: ['node-added' as const],
    }
    await fixture.server.client(owner).call('notifications.create', { params, body })
    await fixture.emit()
    await wanted.waitFor('delivered')
    expect([await inactive.deliveries(), await others.deliveries(), fixture.receiver.at('/foreign')]).toEqual([
      [],
      [],
      [],
    ])
  })

  it('is sent without a signature by a webhook without a secret', async () => {
    const hook = await fixture.createWebhook()
    await fixture.emit()
    await hook.waitFor('delivered')
    expect(hook.received()[0]?.headers['x-crux-signature']).toBeUndefined()
  })
})

describe('a delivery that waits', () => {
  async function createWaiting() {
    const hook = await fixture.createWebhook()
    fixture.receiver.answers((_, outgoing) => void outgoing.writeHead(500).end())
    await fixture.emit()
    await hook.waitFor('pending')
    fixture.receiver.answers((_, outgoing) => void outgoing.writeHead(204).end())
    return hook
  }

  it('is skipped when the notification is switched off or gets another address, and kept when its name changes', async () => {
    const hook = await createWaiting()
    await fixture.notifications.update(hook.id, {
      url: (await fixture.notifications.get(hook.id)).url,
      name: 'Renamed',
    })
    expect((await hook.deliveries())[0]).toMatchObject({ status: 'pending' })
    await fixture.notifications.update(hook.id, { url: `${fixture.receiver.url}/elsewhere` })
    expect((await hook.deliveries())[0]).toMatchObject({ status: 'skipped', nextAttemptAt: null })
    await createSender(fixture.server.app).run()
    expect(fixture.receiver.at('/elsewhere')).toEqual([])
    const other = await createWaiting()
    await fixture.notifications.update(other.id, {
      url: (await fixture.notifications.get(other.id)).url,
      active: false,
    })
    expect((await other.deliveries())[0]).toMatchObject({ status: 'skipped' })
  })

  it('of a notification that was switched off behind its back is skipped by the sender', async () => {
    const hook = await createWaiting()
    await fixture.query('update crux.notification set active = false where id = $1', [hook.id])
    await hook.makeDue()
    await hook.waitFor('skipped')
    expect(hook.received()).toHaveLength(1)
  })

  it('is sent again with the same id when the server that sent it ended before it stored the result, and the late result changes nothing', async () => {
    const hook = await createWaiting()
    await fixture.query(
      'update crux.notification_delivery set next_attempt_at = now(), claimed_at = now() where notification_id = $1',
      [hook.id],
    )
    // Another server makes the attempt.
    await createSender(fixture.second.app).run()
    expect(hook.received()).toHaveLength(1)
    const [before] = (
      await fixture.query('select id, attempts from crux.notification_delivery where notification_id = $1', [hook.id])
    ).rows
    await fixture.query(
      `update crux.notification_delivery set claimed_at = now() - interval '61 seconds' where notification_id = $1`,
      [hook.id],
    )
    await createSender(fixture.second.app).run()
    await hook.waitFor('delivered', 2)
    expect(new Set(hook.received().map(({ headers }) => headers['x-crux-delivery'])).size).toBe(1)
    await finishAttempt(fixture.server.app.database.pool, before, {
      status: 'failed',
      statusCode: 500,
      error: 'answer',
      nextAttemptAt: null,
    })
    expect((await hook.deliveries())[0]).toMatchObject({ status: 'delivered' })
  })

  it('is claimed by one of several servers, one per notification and at most eight of a team', async () => {
    await fixture.query(
      `with made as (insert into crux.notification (team_id, name, type, active, created_by, updated_by)
        select $1, 'n' || number, 'slack', true, 'test', 'test' from generate_series(1, 20) as number returning id)
       insert into crux.notification_delivery (notification_id, event_key, event, text, data, next_attempt_at)
       select id, 'k' || number, 'node-added', 'T', '{}', now() + interval '1 hour' from made, generate_series(1, 5) as number`,
      [fixture.team.id],
    )
    const client = await fixture.server.app.database.pool.connect()
    const rival = await fixture.server.app.database.pool.connect()
    try {
      for (const one of [client, rival]) await one.query('begin')
      await client.query(`update crux.notification_delivery set next_attempt_at = now() where event_key like 'k%'`)
      await client.query('commit')
      await client.query('begin')
      const idle = { notifications: [], teams: [] }
      const claimed = await claimDeliveries(client, { max: 40, perTeam: 8, busy: idle })
      expect(new Set(claimed.map(({ notificationId }) => notificationId)).size).toBe(8)
      const others = await claimDeliveries(rival, { max: 40, perTeam: 8, busy: idle })
      const ids = new Set(claimed.map(({ id }) => id))
      expect(others.filter(({ id }) => ids.has(id))).toEqual([])
      const busy = { notifications: [], teams: [fixture.team.id] }
      expect(await claimDeliveries(client, { max: 40, perTeam: 8, busy })).toEqual([])
    } finally {
      for (const one of [client, rival]) {
        await one.query('rollback')
        one.release()
      }
    }
    await fixture.query('delete from crux.notification')
  })
})

describe('the test button', () => {
  it('sends a message at once, also while the notification is switched off, and records it', async () => {
    const hook = await fixture.createWebhook({ name: 'My hook', active: false })
    await fixture.notifications.test(hook.id)
    expect(JSON.parse(hook.received()[0]?.body ?? '')).toMatchObject({
      event: 'test',
      text: 'This is a test of the notification My hook.',
    })
    expect(await hook.deliveries()).toMatchObject([
      { event: 'test', status: 'delivered', attempts: 1, statusCode: 204 },
    ])
  })

  it('is recorded in the audit log like a delivery that is sent again', async () => {
    const hook = await fixture.createWebhook()
    await fixture.notifications.test(hook.id)
    await fixture.notifications.sendAgain(hook.id, (await hook.deliveries())[0]?.id ?? '')
    const { rows } = await fixture.query(
      'select event, accepted from crux.audit_log where data::text like $1 order by id',
      [`%${hook.id}%`],
    )
    expect(rows).toEqual([
      { event: 'notification notifications.test', accepted: true },
      { event: 'notification notifications.send-again', accepted: true },
    ])
  })

  it('says why nothing arrived, and nothing of the answer', async () => {
    const hook = await fixture.createWebhook()
    fixture.receiver.answers((_, outgoing) => void outgoing.writeHead(418).end('a secret text of the target'))
    const refused = await fixture.notifications.test(hook.id).catch((error: unknown) => error)
    expect(refused).toMatchObject({ status: 400, property: 'url', message: expect.stringContaining('418') })
    expect(JSON.stringify(refused)).not.toContain('secret text')
    expect(await hook.deliveries()).toMatchObject([{ status: 'failed', statusCode: 418, nextAttemptAt: null }])
    const closed = await fixture.createWebhook({ url: 'http://127.0.0.1:1/' })
    await expect(fixture.notifications.test(closed.id)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('connection'),
    })
  })

  it('is limited, over all servers', async () => {
    const hook = await fixture.createWebhook()
    const results = await Promise.allSettled(Array.from({ length: 13 }, () => fixture.notifications.test(hook.id)))
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused.map(({ reason }) => reason.status)).toEqual([429, 429, 429])
    expect(hook.received()).toHaveLength(10)
  })
})

describe('a delivery that is sent again', () => {
  it('is a new one with the same message, and needs an active notification', async () => {
    const hook = await fixture.createWebhook()
    await fixture.emit(fixture.event('Rack 3'))
    const first = await hook.waitFor('delivered')
    const again = await fixture.notifications.sendAgain(hook.id, first.id)
    expect(again).toMatchObject({ event: 'node-added', text: first.text })
    expect(again.id).not.toBe(first.id)
    await until(() => hook.received().length === 2)
    expect(hook.received().map(({ headers }) => headers['x-crux-delivery'])).toEqual([first.id, again.id])
    await hook.waitFor('delivered')
    await fixture.notifications.update(hook.id, { url: (await fixture.notifications.get(hook.id)).url, active: false })
    await expect(fixture.notifications.sendAgain(hook.id, first.id)).rejects.toMatchObject({ status: 412 })
  })
})

describe('old deliveries', () => {
  it('are deleted after 30 days, and beyond the newest thousand', async () => {
    const hook = await fixture.createWebhook()
    await fixture.query(
      `insert into crux.notification_delivery (notification_id, event_key, event, text, data, status, created_at)
       select $1, 'k' || number, 'node-added', number::text, '{}', 'delivered',
         now() - case when number = 0 then interval '31 days' else make_interval(secs => 2000 - number) end
       from generate_series(0, 1005) as number`,
      [hook.id],
    )
    await deleteDeliveries(fixture.server.app)
    const { rows } = await fixture.query(
      'select text::int as number from crux.notification_delivery where notification_id = $1 order by created_at',
      [hook.id],
    )
    expect([rows.length, rows[0].number, rows.at(-1).number]).toEqual([1_000, 6, 1_005])
  })
})
