import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Body } from '@crux/contract'
import { createLogger, createOutbound, type Outbound } from '@crux/service-kit'
import { generateKey } from '../src/crypto/cipher.ts'
import { notify } from '../src/notifications/notify.ts'
import { createSender } from '../src/notifications/sender.ts'
import type { TeamEvent } from '../src/team-events/index.ts'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from './deploy-kit.ts'
import { startTestServer, until } from './kit/index.ts'

export type Received = { path: string; headers: IncomingMessage['headers']; body: string }
type Answer = (received: Received, outgoing: ServerResponse) => void

/** A target of notifications that keeps what it gets, and answers as a test wants: 204 by default. */
export async function startReceiver() {
  const received: Received[] = []
  let answer: Answer = (_, outgoing) => void outgoing.writeHead(204).end()
  const server = createServer(async (incoming, outgoing) => {
    let body = ''
    for await (const chunk of incoming) body += chunk
    const one = { path: incoming.url ?? '', headers: incoming.headers, body }
    received.push(one)
    answer(one, outgoing)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    at: (path: string) => received.filter((one) => one.path === path),
    answers(next: Answer) {
      answer = next
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** Sends what is meant for the services of others to the receiver, with the address in the header `x-meant-for`. */
export function redirectTo(receiver: () => Receiver): Outbound {
  const real = createOutbound({
    allow: 'private',
    refusedPorts: [],
    log: createLogger({ name: 'test', level: 'silent' }),
  })
  return {
    request(url, options = {}) {
      const { protocol, pathname } = new URL(url)
      if (protocol === 'http:') return real.request(url, options)
      const headers = { ...options.headers, 'x-meant-for': url }
      return real.request(`${receiver().url}${pathname}`, { ...options, headers })
    },
  }
}

let serial = 0
type Write = Body<'notifications.create'>

/** Calls of a team's owner. */
export function createNotifications(fixture: DeployTestEnvironment) {
  const { client, params } = fixture
  const body = (write: Partial<Write>): Write => ({
    name: `Notification ${++serial}`,
    type: 'webhook',
    url: 'https://receiver.example.com/hook',
    active: true,
    enabledEvents: ['node-added'],
    ...write,
  })
  const at = (notificationId: string) => ({ ...params, notificationId })
  return {
    at,
    create: (write: Partial<Write> = {}) => client.call('notifications.create', { params, body: body(write) }),
    update: (id: string, write: Partial<Write> = {}) =>
      client.call('notifications.update', { params: at(id), body: body(write) }),
    get: (id: string) => client.call('notifications.get', { params: at(id) }),
    list: () => client.call('notifications.list', { params }),
    remove: (id: string) => client.call('notifications.delete', { params: at(id) }),
    test: (id: string) => client.call('notifications.test', { params: at(id) }),
    sendAgain: (id: string, deliveryId: string) =>
      client.call('notifications.send-again', { params: { ...at(id), deliveryId } }),
    deliveries: async (id: string) =>
      (await client.call('notifications.deliveries', { params: at(id), query: { skip: 0, take: 100 } })).items,
    /** Leads to the event `node-added`. */
    addNode: (name = `node ${++serial}`) => client.call('nodes.create', { params, body: { name } }),
  }
}

/** Two servers with one database and key, a team, and a receiver of its notifications. */
export async function makeNotificationTestEnvironment() {
  const receiver = await startReceiver()
  const config = { encryption: { key: generateKey(), deprecatedKey: undefined } }
  const server = await startTestServer({ config })
  const second = await startTestServer({ config, database: server.database, people: server.people })
  const fixture = await makeDeployTestEnvironment(server)
  const notifications = createNotifications(fixture)
  const query = (text: string, values: unknown[] = []) => server.app.database.pool.query(text, values)
  const event = (name = 'Rack 7', key = `node-added ${++serial}`): TeamEvent => ({
    type: 'node-added',
    key,
    teamId: fixture.team.id,
    at: new Date().toISOString(),
    nodeId: crypto.randomUUID(),
    nodeName: name,
    by: 'Ada',
  })

  /** A webhook at a path of its own. */
  async function createWebhook(write: Partial<Write> = {}) {
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

  return {
    receiver,
    server,
    second,
    team: fixture.team,
    notifications,
    query,
    event,
    createWebhook,
    /** Handles an event as a job of this server. */
    emit: (one: TeamEvent = event(), on = server) => notify(on.app, createSender(on.app), one),
    /** Without notifications, and with a receiver that takes everything. */
    async reset() {
      receiver.answers((_, outgoing) => void outgoing.writeHead(204).end())
      await query('delete from crux.notification')
    },
    async stop() {
      await second.stop({ database: true })
      await server.stop()
      await receiver.stop()
    },
  }
}
export type NotificationTestEnvironment = Awaited<ReturnType<typeof makeNotificationTestEnvironment>>
