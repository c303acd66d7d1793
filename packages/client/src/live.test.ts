import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type WebSocket as Peer, WebSocketServer } from 'ws'
import { createLive, type Live, type LiveFailure } from './live.ts'

type Frame = { type: string; data: { path?: string } & Record<string, unknown> }

let server: WebSocketServer
let peers: Peer[]
let frames: Frame[]
/** Connection attempts after the first `heldAfter`, which wait until the test continues them. */
let held: (() => void)[]
let heldAfter: number
let waits: number[]
let live: Live
/** False: subscriptions are not confirmed. */
let confirms: boolean

const ids = { teamSlug: 'acme', nodeId: '0198c1c2-0000-7000-8000-000000000001' }
const path = `/acme/nodes/${ids.nodeId}`
const container = { prefix: 'shop', name: 'web' }
const send = (frame: unknown) => peers.at(-1)?.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
const listFrames = (type: string) => frames.filter((frame) => frame.type === type)

async function listen(port = 0) {
  server = new WebSocketServer({ port, host: '127.0.0.1' })
  server.on('connection', (peer) => {
    peers.push(peer)
    peer.on('message', (raw) => {
      const frame: Frame = JSON.parse(String(raw))
      frames.push(frame)
      if (frame.type === 'subscribe' && confirms) peer.send(JSON.stringify({ type: 'subbed', data: frame.data }))
      if (frame.type === 'unsubscribe') peer.send(JSON.stringify({ type: 'unsubbed', data: frame.data }))
    })
  })
  await new Promise<void>((done) => server.once('listening', done))
  return (server.address() as AddressInfo).port
}
async function shut() {
  for (const peer of server.clients) peer.terminate()
  await new Promise((done) => server.close(done))
}

let port: number
beforeEach(async () => {
  peers = []
  frames = []
  waits = []
  held = []
  heldAfter = Number.POSITIVE_INFINITY
  confirms = true
  port = await listen()
  live = createLive(`ws://127.0.0.1:${port}/api`, {
    // The real delays are seconds, so the test only checks which ones were requested.
    setTimer: (run, ms) => {
      waits.push(ms)
      if (waits.length > heldAfter) held.push(run)
      else setTimeout(run, 1)
      return () => {}
    },
  })
})
afterEach(async () => {
  live.close()
  await shut()
})

/** The default of one second is too short on a busy machine. */
const waitFor = (check: () => void) => vi.waitFor(check, 10_000)

describe('subscriptions', () => {
  it('subscribe when the first user joins and unsubscribe when the last one leaves', async () => {
    const one = live.channel('node', ids)
    const two = live.channel('node', ids)
    await waitFor(() => expect([one.status, two.status]).toEqual(['subscribed', 'subscribed']))
    expect(listFrames('subscribe')).toEqual([{ type: 'subscribe', data: { path } }])
    one.close()
    const other = live.channel('nodes', { teamSlug: 'acme' })
    await waitFor(() => expect(other.status).toBe('subscribed'))
    expect(listFrames('unsubscribe')).toEqual([])
    two.close()
    await waitFor(() => expect(listFrames('unsubscribe')).toEqual([{ type: 'unsubscribe', data: { path } }]))
  })

  it('queue messages before the confirmation, in order', async () => {
    confirms = false
    const channel = live.channel('node', ids)
    channel.send('watch-containers-state', { prefix: 'shop' })
    channel.send('container-command', { container, operation: 'stop' }, 'second')
    await waitFor(() => expect(listFrames('subscribe')).toHaveLength(1))
    expect(frames).toHaveLength(1)
    send({ type: 'subbed', data: { path } })
    await waitFor(() =>
      expect(frames.slice(1)).toEqual([
        { type: `${path}/watch-containers-state`, data: { prefix: 'shop' } },
        { type: `${path}/container-command`, data: { container, operation: 'stop' }, id: 'second' },
      ]),
    )
  })

  it('subscribe again for a user that joined during the unsubscribe', async () => {
    const keeper = live.channel('nodes', { teamSlug: 'acme' })
    const first = live.channel('node', ids)
    await waitFor(() => expect([keeper.status, first.status]).toEqual(['subscribed', 'subscribed']))
    first.close()
    const second = live.channel('node', ids)
    await waitFor(() => expect(second.status).toBe('subscribed'))
    expect(listFrames('subscribe').filter((frame) => frame.data.path === path)).toHaveLength(2)
  })

  it('keep the messages of a new user until their own subscription is confirmed, not the canceled one', async () => {
    const keeper = live.channel('nodes', { teamSlug: 'acme' })
    await waitFor(() => expect(keeper.status).toBe('subscribed'))
    confirms = false
    const hasty = live.channel('node', ids)
    await waitFor(() => expect(listFrames('subscribe')).toHaveLength(2))
    hasty.close()
    confirms = true
    const newcomer = live.channel('node', ids)
    newcomer.send('watch-container-log', { container, take: 1 })
    // The late answer to the first subscribe arrives before the server has received the unsubscribe.
    send({ type: 'subbed', data: { path } })
    await waitFor(() => expect(listFrames(`${path}/watch-container-log`)).toHaveLength(1))
    expect(frames.slice(1).map((frame) => frame.type)).toEqual([
      'subscribe',
      'unsubscribe',
      'subscribe',
      `${path}/watch-container-log`,
    ])
  })

  it('report that the server refused one', async () => {
    confirms = false
    const failures: LiveFailure[] = []
    live.onError((failure) => failures.push(failure))
    const channel = live.channel('node', ids)
    await waitFor(() => expect(listFrames('subscribe')).toHaveLength(1))
    send({ type: 'sub-failed', data: { path } })
    await waitFor(() => expect(channel.status).toBe('failed'))
    expect(failures).toMatchObject([{ status: 403, path }])
  })
})

describe('live messages', () => {
  it('reach every user of their path and no others', async () => {
    const heard: string[] = []
    const one = live.channel('node', ids)
    one.on('container-log', ({ log }) => heard.push(`one ${log}`))
    live.channel('node', ids).on('container-log', ({ log }) => heard.push(`two ${log}`))
    live.channel('node', { ...ids, teamSlug: 'other' }).on('container-log', ({ log }) => heard.push(`other ${log}`))
    await waitFor(() => expect(one.status).toBe('subscribed'))
    send({ type: `${path}/container-log`, data: { log: 'hello' } })
    await waitFor(() => expect(heard).toEqual(['one hello', 'two hello']))
  })

  it('that do not match the contract are reported and not delivered', async () => {
    const heard: unknown[] = []
    const failures: LiveFailure[] = []
    live.onError((failure) => failures.push(failure))
    const channel = live.channel('node', ids)
    channel.on('container-log', (data) => heard.push(data))
    await waitFor(() => expect(channel.status).toBe('subscribed'))
    send('not json')
    send({ type: `${path}/container-log`, data: { log: 7 } })
    send({ type: `${path}/container-log`, data: { log: 'fine' } })
    await waitFor(() => expect(heard).toEqual([{ log: 'fine' }]))
    expect(failures).toMatchObject([{ path }])
  })

  it('of type error go to the error handler', async () => {
    const failures: LiveFailure[] = []
    live.onError((failure) => failures.push(failure))
    const channel = live.channel('node', ids)
    await waitFor(() => expect(channel.status).toBe('subscribed'))
    send({ type: 'error', data: { status: 412, message: 'The node is not connected', property: 'nodeId' } })
    await waitFor(() =>
      expect(failures).toEqual([{ status: 412, message: 'The node is not connected', property: 'nodeId' }]),
    )
  })
})

describe('a lost socket', () => {
  it('reconnects at once, subscribes every path again and reports it', async () => {
    let ready = 0
    const channel = live.channel('node', ids)
    channel.onReady(() => ready++)
    live.channel('nodes', { teamSlug: 'acme' })
    await waitFor(() => expect(ready).toBe(1))
    peers[0]?.terminate()
    await waitFor(() => expect(ready).toBe(2))
    expect(waits).toEqual([0])
    expect(listFrames('subscribe')).toHaveLength(4)
  })

  it('reconnects after 5, 10, 15 seconds while the server is unavailable, and restarts the delays after a success', async () => {
    const channel = live.channel('node', ids)
    await waitFor(() => expect(channel.status).toBe('subscribed'))
    heldAfter = 3
    await shut()
    await waitFor(() => expect(waits).toEqual([0, 5_000, 10_000, 15_000]))
    await listen(port)
    heldAfter = Number.POSITIVE_INFINITY
    for (const run of held) run()
    await waitFor(() => expect(channel.status).toBe('subscribed'))
    waits.length = 0
    peers.at(-1)?.terminate()
    await waitFor(() => expect(waits).toEqual([0]))
    await waitFor(() => expect(channel.status).toBe('subscribed'))
  })

  it('is given up after 20 attempts, until it is requested again', async () => {
    const channel = live.channel('node', ids)
    await waitFor(() => expect(channel.status).toBe('subscribed'))
    await shut()
    await waitFor(() => expect(live.status).toBe('lost'))
    expect(waits).toHaveLength(20)
    await listen(port)
    live.reset()
    await waitFor(() => expect(channel.status).toBe('subscribed'))
  })

  it('stays closed after 4401 until a new sign-in resets it', async () => {
    const channel = live.channel('node', ids)
    await waitFor(() => expect(channel.status).toBe('subscribed'))
    peers[0]?.close(4401, 'Expired')
    await waitFor(() => expect(live.status).toBe('kicked'))
    expect(waits).toEqual([])
    live.reset()
    await waitFor(() => expect(channel.status).toBe('subscribed'))
  })

  it('is not reopened without subscriptions', async () => {
    const channel = live.channel('node', ids)
    await waitFor(() => expect(channel.status).toBe('subscribed'))
    channel.close()
    expect(live.status).toBe('closed')
    await waitFor(() => expect(server.clients.size).toBe(0))
    expect(waits).toEqual([])
  })
})

describe('a bundle part with the schemas that fails to load', () => {
  it('is requested again and keeps early messages, and the status is not open before', async () => {
    let broken = true
    const waitsOfLoad: number[] = []
    const late = createLive(`ws://127.0.0.1:${port}/api`, {
      setTimer: (run, ms) => {
        waitsOfLoad.push(ms)
        setTimeout(run, 1)
        return () => {}
      },
      loadSchemas: () => (broken ? Promise.reject(new TypeError('the network changed')) : import('./live-schemas.ts')),
    })
    const failures: LiveFailure[] = []
    late.onError((failure) => failures.push(failure))
    const statuses: string[] = []
    late.onStatus((status) => statuses.push(status))
    const channel = late.channel('node', ids)
    const ready = vi.fn()
    channel.onReady(ready)
    await waitFor(() => expect(listFrames('subscribe')).toHaveLength(1))
    await waitFor(() => expect(failures).toHaveLength(1))
    expect(waitsOfLoad.slice(0, 5)).toEqual([500, 1_000, 2_000, 4_000, 8_000])
    expect(late.status).toBe('connecting')
    expect(ready).not.toHaveBeenCalled()

    broken = false
    await waitFor(() => expect(ready).toHaveBeenCalledTimes(1))
    expect([late.status, channel.status]).toEqual(['open', 'subscribed'])
    expect(statuses).toEqual(['connecting', 'open'])
    expect(Math.max(...waitsOfLoad)).toBeLessThanOrEqual(30_000)
    late.close()
  })
})
