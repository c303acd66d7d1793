import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestEnvironment, type TestEnvironment, waitUntil, webImage } from './kit/index.ts'

type Config = Parameters<TestEnvironment['release']>[0]['instances'][number]['config']

let testEnvironment: TestEnvironment
let image: string
beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
  image = (await testEnvironment.publish('web:1', webImage('one'))).reference
})
afterAll(() => testEnvironment.dispose())

let serial = 0
/** Deploys one container, with or without an admin's permission. */
async function deploy(config: Omit<Config, 'name'>, hostDangerousAllowed: boolean) {
  const name = `d${++serial}`
  const release = testEnvironment.release({ hostDangerousAllowed, instances: [{ image, config: { name, ...config } }] })
  const outcome = await testEnvironment.server.deployAndWait(release)
  return { name, ...outcome }
}

/** A server of the node that only the engine could reach; containers are removed before it stops. */
async function whileListening(server: Server, at: string | number, use: () => Promise<void>) {
  await new Promise<void>((resolve) => {
    if (typeof at === 'string') server.listen(at, resolve)
    else server.listen(at, '127.0.0.1', resolve)
  })
  try {
    await use()
  } finally {
    await testEnvironment.clear()
    await new Promise((resolve) => server.close(resolve))
  }
}

const logging = (driver: 'syslog' | 'splunk' | 'json-file', options: Record<string, string>, line: string) => ({
  logConfig: { driver, options: Object.entries(options).map(([key, value]) => ({ key, value })) },
  commands: [{ key: '/bin/sh' }, { key: '-c' }],
  args: [{ key: `while true; do echo ${line}; sleep 0.1; done` }],
})

describe('without permission for host-dangerous options the engine', () => {
  test('writes to no socket of the node for a log driver although it would for an admin', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'crux-socket-'))
    const path = join(directory, 'host.sock')
    const received: string[] = []
    const server = createServer((socket) => {
      socket.on('data', (bytes) => received.push(String(bytes)))
      socket.on('error', () => undefined)
    })
    const attack = logging('syslog', { 'syslog-address': `unix://${path}` }, 'chosen-by-the-container')
    await whileListening(server, path, async () => {
      const refused = await deploy(attack, false)
      expect(refused).toMatchObject({
        successful: false,
        reason: expect.stringContaining('The engine runs the log driver syslog as root'),
      })
      expect(await testEnvironment.names()).toEqual([])
      expect(received).toEqual([])
      expect(await deploy(attack, true)).toMatchObject({ successful: true })
      await waitUntil('the line of the container', () => received.join('').includes('chosen-by-the-container'))
    })
    await rm(directory, { recursive: true })
  })

  test('sends nothing to a loopback address of the node for a log driver although it would for an admin', async () => {
    const received: string[] = []
    const server = createHttpServer((request, response) => {
      received.push(`${request.method}`)
      response.end('{}')
    })
    const port = await freePort()
    const attack = logging('splunk', { 'splunk-url': `http://127.0.0.1:${port}`, 'splunk-token': 'x' }, 'line')
    await whileListening(server, port, async () => {
      expect(await deploy(attack, false)).toMatchObject({
        successful: false,
        reason: expect.stringContaining('The engine runs the log driver splunk as root'),
      })
      expect(received).toEqual([])
      expect(await deploy(attack, true)).toMatchObject({ successful: true })
      await waitUntil('the request of the engine', () => received.includes('OPTIONS'))
    })
  })

  test('reveals no files of the node by the errors of a log driver although it would to an admin', async () => {
    const attack = (path: string) =>
      logging('splunk', { 'splunk-url': 'http://127.0.0.1:1', 'splunk-token': 'x', 'splunk-capath': path }, 'line')
    const reasons = async (allowed: boolean) =>
      Promise.all(['/nonexist', '/etc/shadow'].map(async (path) => (await deploy(attack(path), allowed)).reason))
    const [missing, there] = await reasons(false)
    expect(missing).toContain('The engine runs the log driver splunk as root')
    expect(there?.replace(/d\d+/g, '')).toBe(missing?.replace(/d\d+/g, ''))
    const [shownMissing, shownThere] = await reasons(true)
    expect(shownMissing).toContain('/nonexist')
    expect(shownThere).not.toContain('no such file')
  })

  test('runs no function of a template in the tag of a log although it would for an admin', async () => {
    const attack = logging('json-file', { tag: '{{pad "x" 5 3}}' }, 'line')
    expect(await deploy(attack, false)).toMatchObject({
      successful: false,
      reason: expect.stringContaining('The engine runs this tag as a template in its own process'),
    })
    const { name } = await deploy(attack, true)
    const log = await testEnvironment.docker
      .getContainer(testEnvironment.name(name))
      .logs({ stdout: true, details: true, tail: 1 })
    expect(String(log)).toContain('tag=+++++x+++')
  })
})

describe('a container of a user', () => {
  test('has memory volumes with a size even where the configuration names none', async () => {
    const { name } = await deploy({ volumes: [{ name: 'm', path: '/m', type: 'mem' }] }, false)
    expect(await testEnvironment.exec(name, ['/bin/df', '-k', '/m'])).toMatch(/\s65536\s/)
  })

  test("has init containers on its prefix's network and not on the default bridge", async () => {
    const init = {
      name: 'look',
      image,
      useParentConfig: false,
      command: [{ key: '/bin/sh' }, { key: '-c' }],
      args: [{ key: 'ip -4 addr show eth0 | grep inet' }],
    }
    const release = testEnvironment.release({ instances: [{ image, config: { name: 'own', initContainers: [init] } }] })
    expect(await testEnvironment.server.deployAndWait(release)).toMatchObject({ successful: true })
    const bridge = await testEnvironment.docker.getNetwork('bridge').inspect()
    const reported = testEnvironment.server
      .listEvents(release.key ?? expect.fail())
      .flatMap(({ event }) => (event.case === 'log' ? event.value.lines : []))
      .join('\n')
    const address = /inet (\d+\.\d+)\./.exec(reported)?.[1]
    expect(address).toBeDefined()
    expect(String(bridge.IPAM?.Config?.[0]?.Subnet)).not.toContain(`${address}.`)
  })
})
