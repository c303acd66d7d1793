import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, until } from '../../test/kit/index.ts'
import {
  createNotifications,
  makeNotificationTestEnvironment,
  type NotificationTestEnvironment,
  startReceiver,
} from '../../test/notification-kit.ts'
import { createSender } from './sender.ts'

let fixture: NotificationTestEnvironment
beforeAll(async () => {
  fixture = await makeNotificationTestEnvironment()
})
afterAll(() => fixture.stop())
beforeEach(() => fixture.reset())

const secret = 'a secret of the webhook'

describe('a target', () => {
  it('that is down for an hour gets the message once, when it is back', async () => {
    const hook = await fixture.createWebhook()
    fixture.receiver.answers((_, outgoing) => void outgoing.writeHead(503).end('a secret text of the target'))
    await fixture.emit()
    for (let attempt = 1; attempt <= 7; attempt++) {
      await hook.waitFor('pending', attempt)
      // The clock is moved: what was due in the future is due now.
      await fixture.query(
        `update crux.notification_delivery set created_at = created_at - interval '9 minutes', next_attempt_at = now()
        where notification_id = $1`,
        [hook.id],
      )
      if (attempt === 7) fixture.receiver.answers((_, outgoing) => void outgoing.writeHead(200).end())
      await createSender(fixture.second.app).run()
    }
    const delivery = await hook.waitFor('delivered', 8)
    expect(delivery).toMatchObject({ attempts: 8, statusCode: 200, error: null })
    expect(new Set(hook.received().map(({ headers }) => headers['x-crux-delivery']))).toEqual(new Set([delivery.id]))
    await fixture.emit()
    await until(() => hook.received().length === 9)
    const stored = await fixture.query('select * from crux.notification_delivery where notification_id = $1', [hook.id])
    expect(JSON.stringify(stored.rows)).not.toContain('secret text')
  })

  it('that is down for a day fails', async () => {
    const hook = await fixture.createWebhook()
    fixture.receiver.answers((_, outgoing) => void outgoing.writeHead(500).end())
    await fixture.emit()
    await hook.waitFor('pending')
    await fixture.query(
      `update crux.notification_delivery set created_at = now() - interval '24 hours' where notification_id = $1`,
      [hook.id],
    )
    await hook.makeDue()
    expect(await hook.waitFor('failed', 2)).toMatchObject({ statusCode: 500, error: 'answer', nextAttemptAt: null })
  })

  it('that hangs holds no other notification, and times out', async () => {
    const hanging = await fixture.createWebhook()
    const others = await Promise.all(Array.from({ length: 12 }, () => fixture.createWebhook()))
    fixture.receiver.answers(({ path }, outgoing) => {
      if (path !== hanging.path) outgoing.writeHead(204).end()
    })
    await fixture.emit()
    for (const other of others) await other.waitFor('delivered')
    expect((await hanging.deliveries())[0]).toMatchObject({ status: 'pending', error: null })
    await until(async () => (await hanging.deliveries())[0]?.error, 30_000)
    expect((await hanging.deliveries())[0]).toMatchObject({ status: 'pending', error: 'timeout', attempts: 1 })
  })

  it('that redirects gets the message nowhere else', async () => {
    const hook = await fixture.createWebhook({ secret })
    const elsewhere = await startReceiver()
    for (const status of [301, 302, 303, 307, 308]) {
      fixture.receiver.answers(
        (_, outgoing) => void outgoing.writeHead(status, { location: `${elsewhere.url}/private` }).end(),
      )
      await fixture.emit()
      expect(await hook.waitFor('pending')).toMatchObject({ error: 'redirect' })
      for (const attempts of [2, 3]) {
        await hook.makeDue()
        await hook.waitFor(attempts === 3 ? 'failed' : 'pending', attempts)
      }
      expect(await hook.waitFor('failed', 3)).toMatchObject({ statusCode: status, error: 'redirect' })
    }
    expect(elsewhere.received).toEqual([])
    await elsewhere.stop()
  })

  it('that answers 410 is switched off with a problem and an audit entry, and what waits is not sent', async () => {
    const hook = await fixture.createWebhook()
    await fixture.query(
      `insert into crux.notification_delivery (notification_id, event_key, event, text, data, next_attempt_at)
       values ($1, 'waits', 'node-added', 'Waits', '{}', now() + interval '1 hour')`,
      [hook.id],
    )
    fixture.receiver.answers((_, outgoing) => void outgoing.writeHead(410).end())
    await fixture.emit()
    await until(async () => !(await fixture.notifications.get(hook.id)).active)
    expect(await fixture.notifications.get(hook.id)).toMatchObject({ problem: expect.stringContaining('410') })
    const statuses = (await hook.deliveries()).map(({ status, statusCode }) => [status, statusCode])
    expect(statuses).toEqual([
      ['failed', 410],
      ['skipped', null],
    ])
    await fixture.emit()
    expect(await hook.deliveries()).toHaveLength(2)
    const entry = await until(async () => {
      const { rows } = await fixture.query(
        `select * from crux.audit_log where data ->> 'problem' is not null and data::text like $1`,
        [`%${hook.id}%`],
      )
      return rows[0]
    })
    expect(entry).toMatchObject({ actorName: 'Ada', context: 'rpc', event: 'notification notifications.update' })
    await fixture.notifications.update(hook.id, { url: `${fixture.receiver.url}/new` })
    expect(await fixture.notifications.get(hook.id)).toMatchObject({ active: true, problem: null })
  })

  it('that limits requests gets the next one when it wants, also of other events', async () => {
    const hook = await fixture.createWebhook()
    await fixture.query(
      `insert into crux.notification_delivery (notification_id, event_key, event, text, data, next_attempt_at)
       values ($1, 'other', 'node-added', 'Other', '{}', now() + interval '10 minutes')`,
      [hook.id],
    )
    fixture.receiver.answers((_, outgoing) => void outgoing.writeHead(429, { 'retry-after': '7200' }).end())
    await fixture.emit()
    await until(async () =>
      (await hook.deliveries()).every(({ nextAttemptAt }) => Date.parse(nextAttemptAt ?? '') > Date.now() + 7_100_000),
    )
    expect((await hook.deliveries()).map(({ status }) => status)).toEqual(['pending', 'pending'])
  })

  it('that limits requests gets no later event before the time that it asked for, until its address changes', async () => {
    const hook = await fixture.createWebhook()
    fixture.receiver.answers((_, outgoing) => void outgoing.writeHead(503, { 'retry-after': '7200' }).end())
    await fixture.emit()
    await hook.waitFor('pending')
    for (const on of [fixture.server, fixture.second]) await fixture.emit(fixture.event(), on)
    const deliveries = await hook.deliveries()
    expect(deliveries.map(({ status, attempts }) => [status, attempts])).toEqual([
      ['pending', 0],
      ['pending', 0],
      ['pending', 1],
    ])
    for (const { nextAttemptAt } of deliveries)
      expect(Date.parse(nextAttemptAt ?? '')).toBeGreaterThan(Date.now() + 7_100_000)
    expect(hook.received()).toHaveLength(1)
    fixture.receiver.answers((_, outgoing) => void outgoing.writeHead(204).end())
    await fixture.notifications.update(hook.id, { url: `${fixture.receiver.url}/moved-${hook.id}` })
    await fixture.emit()
    expect(await hook.waitFor('delivered')).toMatchObject({ attempts: 1 })
  })

  it('that takes a test message gets the next event at once, although it asked for a pause before', async () => {
    const hook = await fixture.createWebhook()
    fixture.receiver.answers((_, outgoing) => void outgoing.writeHead(503, { 'retry-after': '86400' }).end())
    await fixture.emit()
    await hook.waitFor('pending')
    fixture.receiver.answers((_, outgoing) => void outgoing.writeHead(204).end())
    await fixture.notifications.test(hook.id)
    await fixture.emit()
    expect(await hook.waitFor('delivered')).toMatchObject({ event: 'node-added', attempts: 1 })
    await until(async () => (await hook.deliveries()).every(({ status }) => status === 'delivered'), 20_000)
    expect(hook.received()).toHaveLength(4)
  })

  it('that answers slowly gets the message once, and one that sends its answer byte by byte times out', async () => {
    const [slow, dripping] = [await fixture.createWebhook(), await fixture.createWebhook()]
    fixture.receiver.answers(({ path }, outgoing) => {
      if (path === slow.path) return void setTimeout(() => outgoing.writeHead(204).end(), 2_000)
      outgoing.writeHead(200)
      const drip = setInterval(() => outgoing.write('.'), 200)
      outgoing.on('close', () => clearInterval(drip))
    })
    await fixture.emit()
    expect(await slow.waitFor('delivered')).toMatchObject({ attempts: 1, statusCode: 204 })
    expect(slow.received()).toHaveLength(1)
    expect(await dripping.waitFor('pending')).toMatchObject({ attempts: 1, error: 'timeout', statusCode: null })
  })

  it('gets one message at a time, however many servers send', async () => {
    const hook = await fixture.createWebhook()
    let running = 0
    let most = 0
    fixture.receiver.answers((_, outgoing) => {
      most = Math.max(most, ++running)
      setTimeout(() => {
        running--
        outgoing.writeHead(204).end()
      }, 500)
    })
    for (const on of [fixture.server, fixture.second, fixture.server, fixture.second])
      await fixture.emit(fixture.event(), on)
    await until(async () => {
      for (const { app } of [fixture.server, fixture.second]) await createSender(app).run()
      return (await hook.deliveries()).every(({ status }) => status === 'delivered')
    }, 30_000)
    expect(hook.received()).toHaveLength(4)
    expect(most).toBe(1)
  })
})

it('an address that may not be contacted is refused, and a private one is not reached by a name', async () => {
  const strict = await startTestServer({ config: { outboundAllow: [], embedded: false } })
  const at = createNotifications(await makeDeployTestEnvironment(strict))
  for (const url of [
    `${fixture.receiver.url}/private`,
    `http://localhost:${fixture.receiver.port}/private`,
    'http://169.254.169.254/',
  ]) {
    const { id } = await at.create({ url })
    await expect(at.test(id)).rejects.toMatchObject({ status: 400, property: 'url' })
    expect((await at.deliveries(id))[0]).toMatchObject({ event: 'test', status: 'failed', error: 'refused address' })
  }
  expect(fixture.receiver.at('/private')).toEqual([])
  await strict.stop()
})

it('a target that answers endlessly is not read to the end', async () => {
  const endless = createServer((_, outgoing) => {
    outgoing.writeHead(200)
    const chunk = Buffer.alloc(65_536)
    const write = () => {
      while (outgoing.write(chunk));
      outgoing.once('drain', write)
    }
    write()
  }).listen(0, '127.0.0.1')
  await once(endless, 'listening')
  const { port } = endless.address() as AddressInfo
  const hook = await fixture.createWebhook({ url: `http://127.0.0.1:${port}/` })
  await fixture.emit()
  expect(await hook.waitFor('failed')).toMatchObject({ error: 'too long an answer', attempts: 1 })
  endless.closeAllConnections()
  endless.close()
})
