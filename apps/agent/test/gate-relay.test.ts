import { once } from 'node:events'
import { mkdir, rm } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { createLogger } from '@crux/service-kit'
import { freePort } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { connectGate } from '../src/engines/docker/gate/client.ts'
import { Gate } from '../src/engines/docker/gate/gate.ts'
import { askPort, gateMain, loadPort, startTestGate, type TestGate, waitUntil } from './kit/index.ts'

const full = process.env.CRUX_TEST_FULL === '1'
let gate: TestGate
const servers: Server[] = []

beforeAll(async () => {
  gate = await startTestGate()
})
afterAll(() => gate.dispose())
afterEach(async () => {
  await gate.ask({ kind: 'apply', open: [], close: (await gate.hello()).ports })
  for (const server of servers.splice(0)) server.close()
})

async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  servers.push(server)
  server.listen(0, host)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
const web = (answer: string) => listen(createHttpServer((_, response) => response.end(answer)))
/** A service that handles a connection with the given function; both ends may be half closed. */
const service = (serve: (client: Socket) => void) =>
  listen(
    createServer({ allowHalfOpen: true }, (client) => {
      client.on('error', () => undefined)
      serve(client)
    }),
  )
async function behindGate(containerPort: number): Promise<number> {
  const port = await freePort()
  expect(await gate.lead(port, containerPort)).toEqual({ ok: true })
  return port
}
const dial = (port: number, host = '127.0.0.1') => connect({ port, host, allowHalfOpen: true })
const ended = (socket: Socket) =>
  new Promise<string>((resolve) =>
    socket
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
      .once('close', () => resolve('closed')),
  )

describe('a connection through the gate', () => {
  test('that the client half-closes still gets the whole answer', async () => {
    const port = await behindGate(
      await service(async (client) => {
        client.end(`heard ${(await text(client)).length}`)
      }),
    )
    const socket = dial(port)
    socket.end('x'.repeat(300_000))
    expect(await text(socket)).toBe('heard 300000')
  })

  test('that the service half-closes still carries what the client sends', async () => {
    const heard = Promise.withResolvers<string>()
    const port = await behindGate(
      await service((client) => {
        client.end('all said')
        text(client).then(heard.resolve, heard.reject)
      }),
    )
    const socket = dial(port)
    expect(await text(socket)).toBe('all said')
    socket.end('but I have not')
    expect(await heard.promise).toBe('but I have not')
  })

  test('that one side resets is reset for the other in both directions', async () => {
    const served: Promise<string>[] = []
    const port = await behindGate(
      await service((client) => {
        served.push(ended(client))
        client.once('data', (chunk) => (String(chunk) === 'reset me' ? client.resetAndDestroy() : client.write('here')))
      }),
    )
    const reset = dial(port)
    reset.write('reset me')
    expect(await ended(reset)).toBe('ECONNRESET')
    const resetting = dial(port)
    resetting.write('hello')
    await once(resetting, 'data')
    resetting.resetAndDestroy()
    await waitUntil('the service hears of it', () => served.length === 2)
    expect(await served[1]).toBe('ECONNRESET')
  })

  test('without a target is reset and leaves no socket', async () => {
    const port = await behindGate(await freePort())
    expect(await ended(dial(port))).toBe('ECONNRESET')
    await waitUntil('nothing is left', async () => (await gate.hello()).connections === 0)
  })

  test('with a slow reader blocks its sender and uses no memory', async () => {
    const chunk = Buffer.alloc(1 << 20)
    let sent = 0
    const port = await behindGate(
      await service((client) => {
        const more = () => {
          while (sent < 512 && client.writable) {
            sent += 1
            if (!client.write(chunk)) return void client.once('drain', more)
          }
        }
        more()
      }),
    )
    const before = await gate.residentMegabytes()
    const readers = Array.from({ length: 4 }, () => dial(port).pause())
    await Promise.all(readers.map((reader) => once(reader, 'connect')))
    await waitUntil('the service is held up', async () => {
      const now = sent
      await new Promise((resolve) => setTimeout(resolve, 300))
      return now === sent && sent > 0
    })
    expect(sent).toBeLessThan(128)
    expect((await gate.residentMegabytes()) - before).toBeLessThan(40)
    for (const reader of readers) reader.destroy()
    await waitUntil('nothing is left', async () => (await gate.hello()).connections === 0)
  })

  test('uses both families where no address is named and only that address where one is', async () => {
    const containerPort = await web('here')
    const port = await behindGate(containerPort)
    expect(await askPort(port)).toBe('here')
    expect(await askPort(port, '::1')).toBe('here')
    const other = await freePort()
    expect(await gate.lead(other, containerPort, { address: '127.0.0.2' })).toEqual({ ok: true })
    expect(await askPort(other, '127.0.0.2')).toBe('here')
    await expect(askPort(other)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test.each(['v1', 'v2'] as const)('names the client by the PROXY protocol %s before its first byte', async (proxy) => {
    const heard = Promise.withResolvers<Buffer>()
    const containerPort = await service((client) => client.once('data', heard.resolve).once('end', () => client.end()))
    const port = await freePort()
    await gate.lead(port, containerPort, { proxy })
    const socket = dial(port)
    await once(socket, 'connect')
    socket.write('GET')
    const head = await heard.promise
    if (proxy === 'v1')
      expect(head.toString()).toContain(`PROXY TCP4 127.0.0.1 127.0.0.1 ${socket.localPort} ${port}\r\n`)
    else
      expect(head.subarray(12, 28).toString('hex')).toBe(`2111000c7f0000017f000001${hex(socket.localPort)}${hex(port)}`)
    socket.destroy()
  })

  const many = full ? 10_000 : 2_000
  test(`of which there are ${many} leaves no socket behind`, async () => {
    const port = await behindGate(await service((client) => client.resume().on('end', () => client.end('ok'))))
    const before = await gate.openSockets()
    let left = many
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        while (left-- > 0) {
          const socket = dial(port)
          if (left % 5 === 0) {
            await once(socket, 'connect')
            socket.resetAndDestroy()
          } else {
            socket.end('hi')
            expect(await text(socket)).toBe('ok')
          }
        }
      }),
    )
    await waitUntil('nothing is left', async () => (await gate.hello()).connections === 0)
    expect(await gate.openSockets()).toBeLessThanOrEqual(before + 2)
  })
})

describe('a held port', () => {
  test('without a target lets clients wait and answers them when it has one', async () => {
    const port = await freePort()
    expect(await gate.lead(port, 1, { target: '' })).toEqual({ ok: true })
    const answers = [askPort(port), askPort(port)]
    await gate.lead(port, await web('at last'))
    expect(await Promise.all(answers)).toEqual(['at last', 'at last'])
  })

  test('that another process holds is refused with its number and changes nothing', async () => {
    const kept = await behindGate(await web('kept'))
    const taken = await web('theirs')
    const free = await freePort()
    const entry = {
      address: '',
      container: 'c',
      target: '127.0.0.1',
      containerPort: 1,
      proxy: '' as const,
      prefix: 'p',
    }
    const answer = await gate.ask({
      kind: 'apply',
      open: [free, kept, taken].map((port) => ({ port, ...entry })),
      close: [],
    })
    expect(answer).toMatchObject({ ok: false, code: 'EADDRINUSE', port: taken })
    expect(await askPort(kept)).toBe('kept')
    await expect(askPort(free)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('with a new target keeps open connections at the old one until they have drained', async () => {
    const port = await behindGate(
      await service((client) =>
        client.on('data', (chunk) => client.write(`old ${chunk}`)).on('end', () => client.end()),
      ),
    )
    const socket = dial(port)
    socket.write('one')
    expect(String((await once(socket, 'data'))[0])).toBe('old one')
    await gate.lead(port, await web('new'), { container: 'd' })
    expect(await askPort(port)).toBe('new')
    expect(await gate.ask({ kind: 'drain', container: 'c', ms: 50 })).toEqual({ ok: true, left: 1 })
    const drained = gate.ask({ kind: 'drain', container: 'c', ms: 20_000 })
    socket.write('two')
    expect(String((await once(socket, 'data'))[0])).toBe('old two')
    socket.destroy()
    expect(await drained).toEqual({ ok: true, left: 0 })
  })

  test('is held again with its target by a gate that starts after a kill', async () => {
    const port = await behindGate(await web('back'))
    await gate.kill()
    await gate.start()
    expect(await askPort(port)).toBe('back')
  })

  describe('that was still taken when the gate started', () => {
    const portsHeld = async () => (await gate.hello()).ports.map((held) => held.port)
    /** The port of a killed gate that another process holds for a moment. */
    async function takenAtStart(answer: string): Promise<{ port: number; other: Server }> {
      const port = await behindGate(await web(answer))
      await gate.kill()
      const other = createServer((client) => client.end())
      await new Promise<void>((resolve) => other.listen(port, '0.0.0.0', resolve))
      await gate.start()
      expect(await portsHeld()).toContain(port)
      return { port, other }
    }

    test('is held when it is free, whatever the agent sends for other ports, and after another kill', async () => {
      const { port, other } = await takenAtStart('later')
      expect(await gate.ask({ kind: 'apply', open: [], close: [] })).toEqual({ ok: true })
      await behindGate(await web('another'))
      await gate.kill()
      await gate.start()
      expect(await portsHeld()).toContain(port)
      other.close()
      expect(await waitUntil('the port answers', () => askPort(port).catch(() => undefined))).toBe('later')
    })

    test('is given up when the agent closes it', async () => {
      const { port, other } = await takenAtStart('never')
      expect(await gate.ask({ kind: 'apply', open: [], close: [{ port, address: '' }] })).toEqual({ ok: true })
      expect(await portsHeld()).not.toContain(port)
      await once(other.close(), 'close')
      // Each attempt would have happened within some milliseconds.
      await delay(200)
      await expect(askPort(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    })

    test('has the latest target of the agent when it is free', async () => {
      const { port, other } = await takenAtStart('before')
      const led = gate.lead(port, await web('after'))
      other.close()
      expect(await led).toEqual({ ok: true })
      expect(await askPort(port)).toBe('after')
    })
  })
})

describe('a gate that hands over', () => {
  test('five times loses no request and no open connection', async () => {
    const port = await behindGate(await web('ok'))
    const longPort = await behindGate(await service((client) => client.pipe(client)))
    await gate.lead(longPort, (await gate.hello()).ports.find((held) => held.port === longPort)?.containerPort ?? 0, {
      container: 'long',
    })
    const long = dial(longPort)
    const requests = loadPort(port)
    const pids = new Set<number>()
    for (let round = 0; round < 5; round += 1) {
      const before = requests.total()
      pids.add((await gate.hello()).pid)
      await gate.handOver()
      long.write(`round ${round}`)
      expect(String((await once(long, 'data'))[0])).toBe(`round ${round}`)
      await waitUntil('requests went on', () => requests.total() > before + 100)
    }
    await requests.stop()
    expect(requests.bad).toEqual([])
    expect(pids.size).toBe(5)
    // The connection belongs to a process that is five generations back.
    expect(await gate.ask({ kind: 'drain', container: 'long', ms: 50 })).toEqual({ ok: true, left: 1 })
    long.destroy()
    expect(await gate.ask({ kind: 'drain', container: 'long', ms: 10_000 })).toEqual({ ok: true, left: 0 })
    await waitUntil('the previous ones have ended', () => [...pids].every((pid) => !isAlive(pid)))
  })

  test('does so only once even where the code on the disk differs from the code that the agent started with', async () => {
    let handovers = 0
    const held = new Gate({
      directory: gate.directory,
      log: createLogger({ name: 'test', level: 'silent' }),
      onLost: () => undefined,
      runner: {
        unusable: undefined,
        code: 'of an agent that began before the update',
        start: async () => undefined,
        ensureParent: () => undefined,
        entryForHandover() {
          handovers += 1
          return gateMain
        },
        remove: async () => undefined,
      },
    })
    const before = await gate.hello()
    expect((await held.readState())?.pid).not.toBe(before.pid)
    expect(handovers).toBe(1)
    held.close()
  })

  test('and cannot write its directory keeps its ports and holds further ones', async () => {
    const port = await behindGate(await web('kept'))
    // The write fails where a directory has the file's name, as on a full disk.
    const blocked = ['gate.pid', 'ports.json.new'].map((name) => join(gate.directory, name))
    for (const path of blocked) {
      await rm(path, { force: true })
      await mkdir(path)
    }
    try {
      await gate.handOver()
      expect(await askPort(port)).toBe('kept')
      expect(await askPort(await behindGate(await web('more')))).toBe('more')
    } finally {
      for (const path of blocked) await rm(path, { recursive: true })
    }
  })

  test('while it receives a request to hold a port leaves that port to its successor', async () => {
    const port = await freePort()
    const containerPort = await web('asked meanwhile')
    const entry = { address: '', container: 'c', target: '127.0.0.1', containerPort, proxy: '' as const, prefix: 'p' }
    const agent = await connectGate(gate.directory)
    const [handedOver, applied] = await Promise.allSettled([
      agent?.ask({ kind: 'handover', entry: gateMain }),
      agent?.ask({ kind: 'apply', open: [{ port, ...entry }], close: [] }),
    ])
    expect(handedOver).toMatchObject({ status: 'fulfilled', value: { ok: true } })
    expect(applied).toMatchObject({ status: 'rejected', reason: { name: 'GateGone' } })
    await expect(askPort(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await gate.lead(port, containerPort)
    expect(await askPort(port)).toBe('asked meanwhile')
  })

  test('to code that does not run keeps its ports and continues', async () => {
    const port = await behindGate(await web('still here'))
    const { pid } = await gate.hello()
    const answer = await gate.ask({ kind: 'handover', entry: '/nowhere/gate.mjs' })
    expect(answer).toMatchObject({ ok: false, message: expect.stringContaining('ended at once') })
    expect((await gate.hello()).pid).toBe(pid)
    expect(await askPort(port)).toBe('still here')
  })
})

test('a gate works in a directory whose path is too long for a socket', async () => {
  const deep = await startTestGate({ deep: true })
  try {
    await deep.handOver()
    expect((await deep.hello()).ports).toEqual([])
  } finally {
    await deep.dispose()
  }
})

const hex = (port: number | undefined) => (port ?? 0).toString(16).padStart(4, '0')

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
