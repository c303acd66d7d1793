import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import { createNotifications, type Receiver, startReceiver } from '../../test/notification-kit.ts'
import { generateKey } from '../crypto/cipher.ts'
import type { TeamEvent } from '../team-events/index.ts'
import { claimDeliveries, finishAttempt } from './delivery-store.ts'
import { notify } from './notify.ts'
import { deleteDeliveries } from './retention.ts'
import { createSender } from './sender.ts'

let receiver: Receiver
let server: TestServer
let second: TestServer
let fixture: DeployTestEnvironment
let notifications: ReturnType<typeof createNotifications>
let serial = 0

beforeAll(async () => {
  receiver = await startReceiver()
  const config = { encryption: { key: generateKey(), deprecatedKey: undefined } }
  server = await startTestServer({ config })
  second = await startTestServer({ config, database: server.database, people: server.people })
  fixture = await makeDeployTestEnvironment(server)
  notifications = createNotifications(fixture)
})
afterAll(async () => {
  await second.stop({ database: true })
  await server.stop()
  await receiver.stop()
})
beforeEach(async () => {
  receiver.answers((_, outgoing) => void outgoing.writeHead(204).end())
  await query('delete from crux.notification')
})

const query = (text: string, values: unknown[] = []) => server.app.database.pool.query(text, values)
const secret = 'a secret of the webhook'

/** A webhook at a path of its own. */
async function createWebhook(write: Parameters<typeof notifications.create>[0] = {}) {
  const path = `/hook-${++serial}`
  const { id } = await notifications.create({ url: `${receiver.url}${path}`, ...write })
  const deliveries = () => notifications.deliveries(id)
  return {
    id,
    path,
    deliveries,
    received: () => receiver.at(path),
    /** The newest delivery once no attempt of it runs and it has this status. */
    waitFor: async (status: string, attempts = 1) => {
      await until(async () => {
        const { rows } = await query(
          `select status, attempts, claimed_at from crux.notification_delivery where notification_id = $1
           order by created_at desc, id desc limit 1`,
          [id],
        )
        const [newest] = rows
        return newest?.status === status && newest.attempts >= attempts && newest.claimedAt === null
      }, 20_000)
      const [newest] = await deliveries()
      if (!newest) throw new Error('the delivery was deleted')
      return newest
    },
    /** Attempts of this delivery that wait are due now. */
    async makeDue() {
      await query(
        `update crux.notification_delivery set next_attempt_at = now() where notification_id = $1 and status = 'pending'`,
        [id],
      )
      await createSender(server.app).run()
    },
  }
}
const event = (name = 'Rack 7', key = `node-added ${++serial}`): TeamEvent => ({
  type: 'node-added',
  key,
  teamId: fixture.team.id,
  at: new Date().toISOString(),
  nodeId: crypto.randomUUID(),
  nodeName: name,
  by: 'Ada',
})
const emit = (one: TeamEvent = event(), on = server) => notify(on.app, createSender(on.app), one)

describe('an event', () => {
  it('arrives once, with a signature that its receiver can verify, although two servers handle it', async () => {
    const hook = await createWebhook({ secret })
    const { id: nodeId } = await notifications.addNode('Rack 9')
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
    const hooks = [await createWebhook(), await createWebhook()]
    const one = event()
    await Promise.all([emit(one), emit(one, second), emit(one), emit(one, second)])
    for (const hook of hooks) await hook.waitFor('delivered')
    await emit(one, second)
    expect(await Promise.all(hooks.map(async ({ deliveries }) => (await deliveries()).length))).toEqual([1, 1])
    expect(hooks.map(({ received }) => received().length)).toEqual([1, 1])
  })

  it('goes to active notifications of its team that want it, and to no others', async () => {
    const wanted = await createWebhook()
    const inactive = await createWebhook({ active: false })
    const others = await createWebhook({ enabledEvents: ['node-back'] })
    const owner = server.signUp()
    const team = await server.createTeam(owner)
    const params = { teamSlug: team.slug }
    const body = {
      name: 'Foreign',
      type: 'webhook' as const,
      url: `${receiver.url}/foreign`,
      active: true,
      enabledEvents: ['node-added' as const],
    }
    await server.client(owner).call('notifications.create', { params, body })
    await emit()
    await wanted.waitFor('delivered')
    expect([await inactive.deliveries(), await others.deliveries(), receiver.at('/foreign')]).toEqual([[], [], []])
  })

  it('is sent without a signature by a webhook without a secret', async () => {
    const hook = await createWebhook()
    await emit()
    await hook.waitFor('delivered')
    expect(hook.received()[0]?.headers['x-crux-signature']).toBeUndefined()
  })
})

describe('a target', () => {
  it('that is down for an hour gets the message once, when it is back', async () => {
    const hook = await createWebhook()
    receiver.answers((_, outgoing) => void outgoing.writeHead(503).end('a secret text of the target'))
    await emit()
    for (let attempt = 1; attempt <= 7; attempt++) {
      await hook.waitFor('pending', attempt)
      // The clock is moved: what was due in the future is due now.
      await query(
        `update crux.notification_delivery set created_at = created_at - interval '9 minutes', next_attempt_at = now()
        where notification_id = $1`,
        [hook.id],
      )
      if (attempt === 7) receiver.answers((_, outgoing) => void outgoing.writeHead(200).end())
      await createSender(second.app).run()
    }
    const delivery = await hook.waitFor('delivered', 8)
    expect(delivery).toMatchObject({ attempts: 8, statusCode: 200, error: null })
    expect(new Set(hook.received().map(({ headers }) => headers['x-crux-delivery']))).toEqual(new Set([delivery.id]))
    await emit()
    await until(() => hook.received().length === 9)
    const stored = await query('select * from crux.notification_delivery where notification_id = $1', [hook.id])
    expect(JSON.stringify(stored.rows)).not.toContain('secret text')
  })

  it('that is down for a day fails', async () => {
    const hook = await createWebhook()
    receiver.answers((_, outgoing) => void outgoing.writeHead(500).end())
    await emit()
    await hook.waitFor('pending')
    await query(
      `update crux.notification_delivery set created_at = now() - interval '24 hours' where notification_id = $1`,
      [hook.id],
    )
    await hook.makeDue()
    expect(await hook.waitFor('failed', 2)).toMatchObject({ statusCode: 500, error: 'answer', nextAttemptAt: null })
  })

  it('that hangs holds no other notification, and times out', async () => {
    const hanging = await createWebhook()
    const others = await Promise.all(Array.from({ length: 12 }, () => createWebhook()))
    receiver.answers(({ path }, outgoing) => {
      if (path !== hanging.path) outgoing.writeHead(204).end()
    })
    await emit()
    for (const other of others) await other.waitFor('delivered')
    expect((await hanging.deliveries())[0]).toMatchObject({ status: 'pending', error: null })
    await until(async () => (await hanging.deliveries())[0]?.error, 30_000)
    expect((await hanging.deliveries())[0]).toMatchObject({ status: 'pending', error: 'timeout', attempts: 1 })
  }, 60_000)

  it('that redirects gets the message nowhere else', async () => {
    const hook = await createWebhook({ secret })
    const elsewhere = await startReceiver()
    for (const status of [301, 302, 303, 307, 308]) {
      receiver.answers((_, outgoing) => void outgoing.writeHead(status, { location: `${elsewhere.url}/private` }).end())
      await emit()
      expect(await hook.waitFor('pending')).toMatchObject({ error: 'redirect' })
      for (const attempts of [2, 3]) {
        await hook.makeDue()
        await hook.waitFor(attempts === 3 ? 'failed' : 'pending', attempts)
      }
      expect(await hook.waitFor('failed', 3)).toMatchObject({ statusCode: status, error: 'redirect' })
    }
    expect(elsewhere.received).toEqual([])
    await elsewhere.stop()
  }, 60_000)

  it('that answers 410 is switched off with a problem and an audit entry, and what waits is not sent', async () => {
    const hook = await createWebhook()
    await query(
      `insert into crux.notification_delivery (notification_id, event_key, event, text, data, next_attempt_at)
       values ($1, 'waits', 'node-added', 'Waits', '{}', now() + interval '1 hour')`,
      [hook.id],
    )
    receiver.answers((_, outgoing) => void outgoing.writeHead(410).end())
    await emit()
    await until(async () => !(await notifications.get(hook.id)).active)
    expect(await notifications.get(hook.id)).toMatchObject({ problem: expect.stringContaining('410') })
    const statuses = (await hook.deliveries()).map(({ status, statusCode }) => [status, statusCode])
    expect(statuses).toEqual([
      ['failed', 410],
      ['skipped', null],
    ])
    await emit()
    expect(await hook.deliveries()).toHaveLength(2)
    const entry = await until(async () => {
      const { rows } = await query(
        `select * from crux.audit_log where data ->> 'problem' is not null and data::text like $1`,
        [`%${hook.id}%`],
      )
      return rows[0]
    })
    expect(entry).toMatchObject({ actorName: 'Ada', context: 'rpc', event: 'notification notifications.update' })
    await notifications.update(hook.id, { url: `${receiver.url}/new` })
    expect(await notifications.get(hook.id)).toMatchObject({ active: true, problem: null })
  })

  it('that limits requests gets the next one when it wants, also of other events', async () => {
    const hook = await createWebhook()
    await query(
      `insert into crux.notification_delivery (notification_id, event_key, event, text, data, next_attempt_at)
       values ($1, 'other', 'node-added', 'Other', '{}', now() + interval '10 minutes')`,
      [hook.id],
    )
    receiver.answers((_, outgoing) => void outgoing.writeHead(429, { 'retry-after': '7200' }).end())
    await emit()
    await until(async () =>
      (await hook.deliveries()).every(({ nextAttemptAt }) => Date.parse(nextAttemptAt ?? '') > Date.now() + 7_100_000),
    )
    expect((await hook.deliveries()).map(({ status }) => status)).toEqual(['pending', 'pending'])
  })
})

it('an address that may not be contacted is refused, and a private one is not reached by a name', async () => {
  const strict = await startTestServer({ config: { outboundAllow: [], embedded: false } })
  const at = createNotifications(await makeDeployTestEnvironment(strict))
  for (const url of [
    `${receiver.url}/private`,
    `http://localhost:${receiver.port}/private`,
    'http://169.254.169.254/',
  ]) {
    const { id } = await at.create({ url })
    await expect(at.test(id)).rejects.toMatchObject({ status: 400, property: 'url' })
    expect((await at.deliveries(id))[0]).toMatchObject({ event: 'test', status: 'failed', error: 'refused address' })
  }
  expect(receiver.at('/private')).toEqual([])
  await strict.stop()
})

describe('a delivery that waits', () => {
  async function createWaiting() {
    const hook = await createWebhook()
    receiver.answers((_, outgoing) => void outgoing.writeHead(500).end())
    await emit()
    await hook.waitFor('pending')
    receiver.answers((_, outgoing) => void outgoing.writeHead(204).end())
    return hook
  }

  it('is skipped when the notification is switched off or gets another address, and kept when its name changes', async () => {
    const hook = await createWaiting()
    await notifications.update(hook.id, { url: (await notifications.get(hook.id)).url, name: 'Renamed' })
    expect((await hook.deliveries())[0]).toMatchObject({ status: 'pending' })
    await notifications.update(hook.id, { url: `${receiver.url}/elsewhere` })
    expect((await hook.deliveries())[0]).toMatchObject({ status: 'skipped', nextAttemptAt: null })
    await createSender(server.app).run()
    expect(receiver.at('/elsewhere')).toEqual([])
    const other = await createWaiting()
    await notifications.update(other.id, { url: (await notifications.get(other.id)).url, active: false })
    expect((await other.deliveries())[0]).toMatchObject({ status: 'skipped' })
  })

  it('of a notification that was switched off behind its back is skipped by the sender', async () => {
    const hook = await createWaiting()
    await query('update crux.notification set active = false where id = $1', [hook.id])
    await hook.makeDue()
    await hook.waitFor('skipped')
    expect(hook.received()).toHaveLength(1)
  })

  it('is sent again with the same id when the server that sent it ended before it stored the result, and the late result changes nothing', async () => {
    const hook = await createWaiting()
    await query(
      'update crux.notification_delivery set next_attempt_at = now(), claimed_at = now() where notification_id = $1',
      [hook.id],
    )
    // Another server makes the attempt.
    await createSender(second.app).run()
    expect(hook.received()).toHaveLength(1)
    const [before] = (
      await query('select id, attempts from crux.notification_delivery where notification_id = $1', [hook.id])
    ).rows
    await query(
      `update crux.notification_delivery set claimed_at = now() - interval '61 seconds' where notification_id = $1`,
      [hook.id],
    )
    await createSender(second.app).run()
    await hook.waitFor('delivered', 2)
    expect(new Set(hook.received().map(({ headers }) => headers['x-crux-delivery'])).size).toBe(1)
    await finishAttempt(server.app.database.pool, before, {
      status: 'failed',
      statusCode: 500,
      error: 'answer',
      nextAttemptAt: null,
    })
    expect((await hook.deliveries())[0]).toMatchObject({ status: 'delivered' })
  })

  it('is claimed by one of several servers, one per notification and at most eight of a team', async () => {
    await query(
      `with made as (insert into crux.notification (team_id, name, type, active, created_by, updated_by)
        select $1, 'n' || number, 'slack', true, 'test', 'test' from generate_series(1, 20) as number returning id)
       insert into crux.notification_delivery (notification_id, event_key, event, text, data, next_attempt_at)
       select id, 'k' || number, 'node-added', 'T', '{}', now() + interval '1 hour' from made, generate_series(1, 5) as number`,
      [fixture.team.id],
    )
    const client = await server.app.database.pool.connect()
    const rival = await server.app.database.pool.connect()
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
    await query('delete from crux.notification')
  })
})

describe('the test button', () => {
  it('sends a message at once, also while the notification is switched off, and records it', async () => {
    const hook = await createWebhook({ name: 'My hook', active: false })
    await notifications.test(hook.id)
    expect(JSON.parse(hook.received()[0]?.body ?? '')).toMatchObject({
      event: 'test',
      text: 'This is a test of the notification My hook.',
    })
    expect(await hook.deliveries()).toMatchObject([
      { event: 'test', status: 'delivered', attempts: 1, statusCode: 204 },
    ])
  })

  it('is recorded in the audit log like a delivery that is sent again', async () => {
    const hook = await createWebhook()
    await notifications.test(hook.id)
    await notifications.sendAgain(hook.id, (await hook.deliveries())[0]?.id ?? '')
    const { rows } = await query('select event, accepted from crux.audit_log where data::text like $1 order by id', [
      `%${hook.id}%`,
    ])
    expect(rows).toEqual([
      { event: 'notification notifications.test', accepted: true },
      { event: 'notification notifications.send-again', accepted: true },
    ])
  })

  it('says why nothing arrived, and nothing of the answer', async () => {
    const hook = await createWebhook()
    receiver.answers((_, outgoing) => void outgoing.writeHead(418).end('a secret text of the target'))
    const refused = await notifications.test(hook.id).catch((error: unknown) => error)
    expect(refused).toMatchObject({ status: 400, property: 'url', message: expect.stringContaining('418') })
    expect(JSON.stringify(refused)).not.toContain('secret text')
    expect(await hook.deliveries()).toMatchObject([{ status: 'failed', statusCode: 418, nextAttemptAt: null }])
    const closed = await createWebhook({ url: 'http://127.0.0.1:1/' })
    await expect(notifications.test(closed.id)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('connection'),
    })
  })

  it('is limited, over all servers', async () => {
    const hook = await createWebhook()
    const results = await Promise.allSettled(Array.from({ length: 13 }, () => notifications.test(hook.id)))
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused.map(({ reason }) => reason.status)).toEqual([429, 429, 429])
    expect(hook.received()).toHaveLength(10)
  })
})

describe('a delivery that is sent again', () => {
  it('is a new one with the same message, and needs an active notification', async () => {
    const hook = await createWebhook()
    await emit(event('Rack 3'))
    const first = await hook.waitFor('delivered')
    const again = await notifications.sendAgain(hook.id, first.id)
    expect(again).toMatchObject({ event: 'node-added', text: first.text })
    expect(again.id).not.toBe(first.id)
    await until(() => hook.received().length === 2)
    expect(hook.received().map(({ headers }) => headers['x-crux-delivery'])).toEqual([first.id, again.id])
    await hook.waitFor('delivered')
    await notifications.update(hook.id, { url: (await notifications.get(hook.id)).url, active: false })
    await expect(notifications.sendAgain(hook.id, first.id)).rejects.toMatchObject({ status: 412 })
  })
})

describe('old deliveries', () => {
  it('are deleted after 30 days, and beyond the newest thousand', async () => {
    const hook = await createWebhook()
    await query(
      `insert into crux.notification_delivery (notification_id, event_key, event, text, data, status, created_at)
       select $1, 'k' || number, 'node-added', number::text, '{}', 'delivered',
         now() - case when number = 0 then interval '31 days' else make_interval(secs => 2000 - number) end
       from generate_series(0, 1005) as number`,
      [hook.id],
    )
    await deleteDeliveries(server.app)
    const { rows } = await query(
      'select text::int as number from crux.notification_delivery where notification_id = $1 order by created_at',
      [hook.id],
    )
    expect([rows.length, rows[0].number, rows.at(-1).number]).toEqual([1_000, 6, 1_005])
  })
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
  const hook = await createWebhook({ url: `http://127.0.0.1:${port}/` })
  await emit()
  expect(await hook.waitFor('failed')).toMatchObject({ error: 'too long an answer', attempts: 1 })
  endless.closeAllConnections()
  endless.close()
})
