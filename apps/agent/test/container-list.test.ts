import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Container, ContainerState } from '@crux/agent-protocol'
import { createLogger } from '@crux/service-kit'
import { loadImage } from '@crux/test-kit'
import type Docker from 'dockerode'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { toView } from '../src/engines/docker/client/container-view.ts'
import { openDockerDriver } from '../src/engines/docker/client/driver.ts'
import type { Driver } from '../src/engines/docker/containers/container-engine.ts'
import { label } from '../src/engines/labels.ts'
import { openCuttableSocket } from './kit/cuttable-socket.ts'
import { openEngine, waitUntil } from './kit/index.ts'

/** Containers that no other test has, and a list of only these. */
const docker = openEngine()
const prefix = `list-${randomUUID().slice(0, 8)}`
const image = `crux-container-list-${prefix}:1`
const directories: string[] = []
let directory: string
let socket: Awaited<ReturnType<typeof openCuttableSocket>>
let driver: Driver

beforeAll(() => loadImage(image, {}))
afterAll(async () => {
  driver?.close()
  await socket?.cut()
  for (const made of directories) await rm(made, { recursive: true, force: true })
  await docker.getImage(image).remove({ force: true })
})
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crux-list-'))
  directories.push(directory)
  socket = await openCuttableSocket(directory)
  driver = await openDockerDriver(socket.dockerHost, createLogger({ name: 'test', level: 'silent' }))
  await waitUntil('the first list', () => driver.list({ prefix }))
})
afterEach(async () => {
  for (const { Id } of await docker.listContainers({ all: true, filters: { label: [`${label.prefix}=${prefix}`] } }))
    await docker.getContainer(Id).remove({ force: true })
})

const named = (short: string) => `${prefix}-${short}`
const script = (text: string) => ['/bin/sh', '-c', text]
function make(short: string, options: Partial<Docker.ContainerCreateOptions> = {}): Promise<Docker.Container> {
  return docker.createContainer({
    name: named(short),
    Image: image,
    Cmd: script('sleep 600'),
    StopTimeout: 1,
    ...options,
    Labels: { [label.prefix]: prefix },
  })
}
const list = () => driver.list({ prefix })
const one = async (short: string): Promise<Container | undefined> =>
  (await list()).find(({ ref }) => ref?.name === short)

/** Each container listed and inspected now, as a list without a cache would return it. */
async function truth(): Promise<Container[]> {
  const listed = await docker.listContainers({ all: true, filters: { label: [`${label.prefix}=${prefix}`] } })
  return Promise.all(
    listed.map(async (container) => toView(container, await docker.getContainer(container.Id).inspect())),
  )
}

/** Both sides are asked one after the other, and a second may pass in between. */
const ageless = (containers: readonly Container[]) =>
  containers.map((container) => ({
    ...container,
    reason: container.reason.replace(/Less than a second|\d+ seconds?/, ''),
  }))

describe('a container list', () => {
  test('shows a creation, a start, an end, a rename and a removal right after each', async () => {
    const container = await make('web', { ExposedPorts: { '8080/tcp': {} } })
    expect(await one('web')).toMatchObject({ state: ContainerState.WAITING, reason: 'Created', engineState: 'created' })
    await container.start()
    expect(await one('web')).toMatchObject({
      state: ContainerState.RUNNING,
      reason: expect.stringMatching(/^Up /),
      ports: [{ internal: 8080, external: 0, protocol: 'tcp' }],
    })
    expect(ageless(await list())).toEqual(ageless(await truth()))
    await container.kill()
    await container.wait()
    await waitUntil(
      'the end',
      async () => (await docker.getContainer(container.id).inspect()).State.Status === 'exited',
    )
    expect(await one('web')).toMatchObject({
      state: ContainerState.EXITED,
      exitCode: 137,
      reason: expect.stringMatching(/^Exited \(137\) .* ago$/),
    })
    expect(ageless(await list())).toEqual(ageless(await truth()))
    await container.rename({ name: named('other') })
    expect((await list()).map(({ ref }) => ref?.name)).toEqual(['other'])
    await container.remove()
    expect(await list()).toEqual([])
  })

  test('shows a pause, an update and a restart as an inspection does', async () => {
    const container = await make('web')
    await container.start()
    await container.pause()
    expect(await one('web')).toMatchObject({
      state: ContainerState.WAITING,
      engineState: 'paused',
      reason: expect.stringMatching(/\(Paused\)$/),
    })
    await container.unpause()
    expect(await one('web')).toMatchObject({ state: ContainerState.RUNNING })
    await container.restart()
    expect(ageless(await list())).toEqual(ageless(await truth()))
  })

  test('shows why a start failed although the container has no event of it', async () => {
    const container = await make('web', { Cmd: ['/nothing-of-that-name'] })
    expect(await one('web')).toMatchObject({ reason: 'Created' })
    await expect(container.start()).rejects.toThrow()
    expect(await one('web')).toMatchObject({ reason: expect.stringMatching(/^Created: .*nothing-of-that-name/) })
    const sharing = await make('sharing', { HostConfig: { NetworkMode: 'none' }, Cmd: ['/nothing-of-that-name'] })
    await list()
    await expect(sharing.start()).rejects.toThrow()
    expect(await one('sharing')).toMatchObject({ reason: expect.stringContaining('nothing-of-that-name') })
    expect(ageless(await list())).toEqual(ageless(await truth()))
  })

  test('shows why a start by the agent failed also in a network of another container', async () => {
    const owner = await make('owner')
    await owner.start()
    const guest = await make('guest', {
      HostConfig: { NetworkMode: `container:${owner.id}` },
      Cmd: ['/nothing-of-that-name'],
    })
    await list()
    await expect(driver.engine.start(guest.id)).rejects.toThrow('nothing-of-that-name')
    expect(await one('guest')).toMatchObject({ reason: expect.stringContaining('nothing-of-that-name') })
  })

  test('omits containers that were created and removed between two lists and loses none of many at once', async () => {
    await list()
    for (let round = 0; round < 5; round += 1) await (await make('brief')).remove({ force: true })
    expect(await list()).toEqual([])
    const made = await Promise.all(Array.from({ length: 60 }, (_, at) => make(`many-${at}`)))
    expect(await list()).toHaveLength(60)
    const removing = Promise.all(made.slice(0, 30).map((container) => container.remove({ force: true })))
    // Lists that run during changes show each container as it was at some moment, and none twice.
    for (let round = 0; round < 10; round += 1) {
      const ids = (await list()).map(({ engineId }) => engineId)
      expect(new Set(ids).size).toBe(ids.length)
    }
    await removing
    expect((await list()).map(({ engineId }) => engineId).sort()).toEqual(
      made
        .slice(30)
        .map(({ id }) => id)
        .sort(),
    )
  })
})

test('shows each change of a health check and counts each restart by the engine', async () => {
  const container = await make('web', {
    Cmd: script('sleep 600'),
    Healthcheck: { Test: ['CMD-SHELL', 'test -e /tmp/fine'], Interval: 1e8, Timeout: 1e9, Retries: 1 },
  })
  await container.start()
  await waitUntil('unhealthy', async () => (await one('web'))?.health === 'unhealthy')
  expect((await one('web'))?.reason).toMatch(/\(unhealthy\)$/)
  const exec = await container.exec({ Cmd: ['/bin/sh', '-c', 'touch /tmp/fine'] })
  await exec.start({})
  await waitUntil('healthy', async () => (await one('web'))?.health === 'healthy')
  await make('loop', { Cmd: ['/bin/sh', '-c', 'exit 3'], HostConfig: { RestartPolicy: { Name: 'always' } } }).then(
    (loop) => loop.start(),
  )
  await waitUntil('three restarts', async () => ((await one('loop'))?.restartCount ?? 0) >= 3)
})

test('shows the age of a state as the engine does long after the last event', async () => {
  const running = await make('running')
  const ended = await make('ended', { Cmd: ['/bin/sh', '-c', 'exit 4'] })
  await running.start()
  await ended.start()
  await ended.wait()
  await waitUntil('the age of three seconds', async () => (await one('running'))?.reason === 'Up 3 seconds')
  // Both are asked within one second of their age, so a comparison at the boundary is repeated.
  await waitUntil('the same texts', async () => {
    const [ours, engines] = [await list(), await truth()]
    return JSON.stringify(ours.map(({ reason }) => reason)) === JSON.stringify(engines.map(({ reason }) => reason))
  })
  expect((await one('ended'))?.reason).toMatch(/^Exited \(4\) \d+ seconds? ago$/)
})

test('loses no container and keeps no removed one after a broken stream of events', async () => {
  const gone = await make('gone')
  const ending = await make('ending')
  await ending.start()
  expect(await list()).toHaveLength(2)
  await socket.cut()
  await expect(list()).rejects.toThrow('The Docker engine does not answer')
  await gone.remove({ force: true })
  await ending.kill()
  await make('new')
  await socket.heal()
  // At once, even before the stream is back, and again when it is.
  const inspectedAll = await truth()
  expect((await list()).map(({ ref, state }) => [ref?.name, state])).toEqual([
    ['new', ContainerState.WAITING],
    ['ending', ContainerState.EXITED],
  ])
  const heard = Promise.withResolvers<void>()
  const unsubscribe = driver.subscribe(({ kind }) => kind === 'relist' && heard.resolve())
  await heard.promise
  unsubscribe()
  expect((await list()).map(({ engineId }) => engineId)).toEqual(inspectedAll.map(({ engineId }) => engineId))
  await make('later')
  expect((await list()).map(({ ref }) => ref?.name)).toEqual(['later', 'new', 'ending'])
})

test('does not inspect containers again that did not change', async () => {
  const made = await Promise.all(Array.from({ length: 5 }, (_, at) => make(`quiet-${at}`)))
  await list()
  const before = socket.requests().length
  for (let round = 0; round < 20; round += 1) await list()
  const asked = socket.requests().slice(before)
  const ids = new Set(made.map(({ id }) => id))
  // Other tests use the engine too; inspections of containers that they change are allowed.
  expect(asked.filter((path) => [...ids].some((id) => path.includes(id)))).toEqual([])
  expect(asked.filter((path) => /\/containers\/json\?all=true$/.test(path))).toEqual([])
})

test('shows for a container that a release replaces and for its successor what will happen to them', async () => {
  for (const short of ['web.old-0123abcd', 'web.next-0123abcd', 'web']) await (await make(short)).start()
  const reasons = await waitUntil('all run', async () => {
    const found = await list()
    return found.length === 3 && found.every(({ state }) => state === ContainerState.RUNNING)
      ? Object.fromEntries(found.map(({ ref, reason }) => [ref?.name, reason]))
      : undefined
  })
  expect(reasons['web.old-0123abcd']).toMatch(/^Up .*; replaced, and removed when its connections have ended$/)
  expect(reasons['web.next-0123abcd']).toMatch(/^Up .*; takes over when its release is verified$/)
  expect(reasons.web).toMatch(/^Up [^;]*$/)
})
