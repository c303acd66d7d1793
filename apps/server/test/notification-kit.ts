import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Body } from '@crux/contract'
import { createLogger, createOutbound, type Outbound } from '@crux/service-kit'
import type { DeployTestEnvironment } from './deploy-kit.ts'

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
