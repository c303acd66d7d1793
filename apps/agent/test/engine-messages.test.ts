import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { createLogger } from '@crux/service-kit'
import { loadImage } from '@crux/test-kit'
import type Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDockerDriver } from '../src/engines/docker/client/driver.ts'
import { translating } from '../src/engines/docker/client/errors.ts'
import { openEngine } from './kit/index.ts'

const docker = openEngine()
const mark = `crux-message-${randomUUID().slice(0, 8)}`
const image = `${mark}:1`
const made: string[] = []
const name = (short: string) => `${mark}-${short}`

beforeAll(() => loadImage(image, { files: { '/etc/app.conf': 'no program' } }))
afterAll(async () => {
  for (const id of made) await docker.getContainer(id).remove({ force: true, v: true })
  await docker.getNetwork(mark).remove()
  await docker.getVolume(mark).remove()
  await docker.getImage(image).remove({ force: true })
})

type Wanted = Docker.ContainerCreateOptions
/** The message for a user who configured or started such a container. */
async function toFailure(wanted: Wanted): Promise<string> {
  const work = translating('start the container', async () => {
    const container = await docker.createContainer({ Image: image, Cmd: ['/bin/true'], ...wanted })
    made.push(container.id)
    await container.start()
  })
  return work.then(
    () => 'it started',
    (error: Error) => error.message,
  )
}

const host = (HostConfig: Docker.HostConfig): Wanted => ({ HostConfig })
const mount = (Source: string, Target: string, Type: Docker.MountType = 'bind') => ({ Type, Source, Target })
const published = (HostPort: number, HostIp = ''): Wanted => ({
  ExposedPorts: { '80/tcp': {} },
  ...host({ PortBindings: { '80/tcp': [{ HostPort: String(HostPort), HostIp }] } }),
})

describe("a message of the engine is translated to what happened, to what and what to do, with the engine's text", () => {
  test.each<[sentence: string, words: string, wanted: Wanted]>([
    [
      'The path /nope/data does not exist on the node: create it there, or correct the volume',
      'invalid mount config for type "bind": bind source path does not exist: /nope/data',
      host({ Mounts: [mount('/nope/data', '/data')] }),
    ],
    [
      'Two volumes have the path /data: give each a path of its own',
      'Duplicate mount point: /data',
      host({ Mounts: [mount('/tmp', '/data'), mount('/tmp', '/data')] }),
    ],
    [
      'The path data of a volume is not absolute: begin it with /',
      "invalid mount path: 'data'",
      host({ Mounts: [mount('/tmp', 'data')] }),
    ],
    [
      '/tmp of the node cannot be mounted at /etc/app.conf of the image: one is a directory and the other a file',
      'not a directory',
      host({ Mounts: [mount('/tmp', '/etc/app.conf')] }),
    ],
    [
      'Nothing can be mounted at /proc/data, which is inside /proc: choose another path for the volume',
      'cannot be mounted because it is inside /proc',
      host({ Mounts: [mount('/tmp', '/proc/data')] }),
    ],
    [
      'No space is left on the disk of the node: free some, for example by removing images that nothing needs',
      'no space left on device',
      host({
        Mounts: [
          {
            ...mount(mark, '/bin', 'volume'),
            VolumeOptions: {
              NoCopy: false,
              Labels: {},
              DriverConfig: { Name: 'local', Options: { type: 'tmpfs', device: 'tmpfs', o: 'size=4k' } },
            },
          },
        ],
      }),
    ],
    [
      'The image has no program serve: correct the command or the entrypoint',
      'exec: "serve": executable file not found in $PATH',
      { Cmd: ['serve'] },
    ],
    [
      'The image has no program /app/serve: correct the command or the entrypoint',
      'exec: "/app/serve": stat /app/serve: no such file or directory',
      { Entrypoint: ['/app/serve'] },
    ],
    [
      '/etc of the image is not executable: correct the command, or make it executable in the image',
      'exec: "/etc": permission denied',
      { Entrypoint: ['/etc'] },
    ],
    [
      'The working directory app is not absolute: begin it with /',
      "the working directory 'app' is invalid",
      { WorkingDir: 'app' },
    ],
    ['The image has no user ada: correct the user', 'unable to find user ada: no matching entries', { User: 'ada' }],
    [
      'The image has no group ada: correct the user',
      'unable to find group ada: no matching entries',
      { User: '1:ada' },
    ],
    ['There is no capability FLY: correct or remove it', 'unknown capability: "CAP_FLY"', host({ CapAdd: ['FLY'] })],
    ['The memory limit is too low: choose 6MB or more', 'Minimum memory limit allowed is 6MB', host({ Memory: 1_024 })],
    [
      'The memory limit is lower than the memory request: raise the limit, or lower the request',
      'memory reservation',
      host({ Memory: 10_000_000, MemoryReservation: 20_000_000 }),
    ],
    ['The CPU limit does not fit the node: choose one from 0.01 to', 'Range of CPUs is from', host({ NanoCpus: 9e15 })],
    [
      'A ulimit does not fit the node',
      'error setting rlimit',
      host({ Ulimits: [{ Name: 'nofile', Soft: 10, Hard: 5 }] }),
    ],
    [
      'The log driver json-file has no option colour: remove the option',
      "unknown log opt 'colour'",
      host({ LogConfig: { Type: 'json-file', Config: { colour: '1' } } }),
    ],
    [
      'The log driver cannot start: check its options',
      'failed to initialize logging driver',
      host({ LogConfig: { Type: 'syslog', Config: { 'syslog-address': 'tcp://127.0.0.1:1' } } }),
    ],
    [
      '"web" is no host name with an address: correct the extra host',
      'bad format for add-host',
      host({ ExtraHosts: ['web'] }),
    ],
    ['There is no signal STOPPED: correct the stop signal', 'STOPPED', { StopSignal: 'STOPPED' }],
    [
      `The node has no network ${mark}-none: create it there, or remove it from the configuration`,
      `network ${mark}-none not found`,
      host({ NetworkMode: `${mark}-none` }),
    ],
    [
      'The node has no address 203.0.113.7: publish port 38125 on another one, or on all',
      'cannot assign requested address',
      published(38_125, '203.0.113.7'),
    ],
    [`The node has no image ${mark}:2: deploy again, so that it is pulled`, 'No such image', { Image: `${mark}:2` }],
  ])('%s', async (sentence, words, wanted) => {
    const message = await toFailure(wanted)
    expect(message.slice(0, sentence.length)).toBe(sentence)
    expect(message).toContain(' (Docker: ')
    expect(message).toContain(words)
  })

  test('for a port that a process holds and for one that a container holds', async () => {
    const holder = createTcpServer().listen(0, '0.0.0.0')
    await new Promise((resolve) => holder.once('listening', resolve))
    const { port } = holder.address() as AddressInfo
    const taken = `Port ${port} is taken on the node: choose another port, or stop what uses it (Docker: `
    expect(await toFailure(published(port))).toContain(taken)
    await new Promise((resolve) => holder.close(resolve))
    expect(await toFailure({ Cmd: ['/bin/sleep', '600'], ...published(port) })).toBe('it started')
    expect(await toFailure(published(port))).toContain(taken)
  })

  test('for a taken name, a container that is paused or removed, and a network without a free address', async () => {
    await docker.createNetwork({ Name: mark, IPAM: { Driver: 'default', Config: [{ Subnet: '10.253.213.0/30' }] } })
    const inNetwork = host({ NetworkMode: mark })
    expect(await toFailure({ name: name('one'), Cmd: ['/bin/sleep', '600'], ...inNetwork })).toBe('it started')
    expect(await toFailure({ name: name('one') })).toContain(
      `A container with the name ${name('one')} exists already: choose another name, or remove it (Docker: Conflict.`,
    )
    expect(await toFailure(inNetwork)).toContain(`The network ${mark} has no free address: remove containers from it (`)
    const start = (id: string) => translating('start the container', () => docker.getContainer(id).start())
    await docker.getContainer(name('one')).pause()
    await expect(start(name('one'))).rejects.toThrow('The container is paused: unpause it on the node first (Docker: ')
    await expect(start(name('none'))).rejects.toThrow(`There is no container ${name('none')}, or no longer (Docker: `)
  })

  test('for an unknown error with the operation that was tried', async () => {
    expect(await toFailure({ Hostname: 'a'.repeat(70) })).toMatch(
      /^Docker could not start the container \(Docker: .+\)$/,
    )
  })
})

/** The engine's own address on its default network: it names none until it was restarted once, and takes the first of the subnet. */
async function getBridgeAddress(): Promise<string> {
  const config = (await docker.getNetwork('bridge').inspect()).IPAM?.Config?.[0]
  return (
    config?.Gateway ?? config?.Subnet?.replace(/\.\d+\/\d+$/, '.1') ?? expect.fail('the engine has no default network')
  )
}

describe('a registry that cannot be reached is reported with what to do on the node', () => {
  let server: Server | undefined
  afterAll(() => server?.close())

  test.each([
    ['nobody listens', 'does not answer: check that it runs, and that the node reaches it (Docker: '],
    ['the host name is unknown', 'The node cannot resolve the host name of the registry of '],
    [
      'it does not speak TLS',
      'does not speak TLS: Docker on the node must list it under insecure-registries (Docker: ',
    ],
  ])('%s', async (what, sentence) => {
    const driver = await openDockerDriver(
      'unix:///var/run/docker.sock',
      createLogger({ name: 'test', level: 'silent' }),
    )
    // Docker treats a registry on loopback as insecure by itself.
    const bridge = await getBridgeAddress()
    server = createServer((_, response) => response.end()).listen(0, bridge)
    await new Promise((resolve) => server?.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    if (what === 'nobody listens') await new Promise((resolve) => server?.close(resolve))
    const address = what === 'the host name is unknown' ? 'no-such-host.invalid' : `${bridge}:${port}`
    try {
      await expect(
        driver.engine.resolveDigest({ name: `${address}/app`, tag: '1' }, undefined, new AbortController().signal),
      ).rejects.toThrow(sentence)
    } finally {
      driver.close()
      server.close()
    }
  })
})
