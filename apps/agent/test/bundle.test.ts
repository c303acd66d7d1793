import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, loadImage, startStorage, storageAccount, storageMissing } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { buildAgent } from '../scripts/build.ts'
import { buildAgentImage } from '../scripts/build-image.ts'
import { connectGate } from '../src/engines/docker/gate/client.ts'
import {
  askPort,
  FakeServer,
  loadArchive,
  loadPort,
  lookAtGate,
  makeRelease,
  openEngine,
  removeImages,
  spawnAgent,
  waitUntil,
  webImage,
} from './kit/index.ts'

let server: FakeServer
let dataDir: string
beforeEach(async () => {
  server = new FakeServer()
  await server.start()
  dataDir = await mkdtemp(join(tmpdir(), 'crux-agent-'))
})
afterEach(async () => {
  await server.stop()
  await rm(dataDir, { recursive: true, force: true })
})

describe('the agent bundle', () => {
  test('connects and uses at most 95 MB when it is idle', async () => {
    const main = join(await buildAgent(join(dataDir, 'bundle')), 'agent.mjs')
    // The first start creates the key pair and loads the library for it; most starts are later ones.
    for (const token of [server.newInstallToken(), undefined]) {
      const links = server.links.length
      const agent = spawnAgent(server, { dataDir, main, nodeId: 'node-1', ...(token ? { token } : {}) })
      await waitUntil('the bundle connects', () => server.links.length > links && server.connected)
      expect((await server.ask({ case: 'listContainers', value: {} })).case).toBe('containers')
      if (!token) expect(await residentMegabytes(agent.child.pid)).toBeLessThanOrEqual(95)
      agent.child.kill('SIGTERM')
      expect(await agent.exited).toEqual({ code: 143, signal: null })
    }
  })
})

describe('the agent image', () => {
  const docker = openEngine()
  const name = `crux-agent-test-${randomUUID().slice(0, 8)}`
  let reference: string
  let dist: string
  beforeAll(async () => {
    dist = await mkdtemp(join(tmpdir(), 'crux-agent-dist-'))
    const built = await buildAgentImage(dist)
    reference = built.reference
    expect((await stat(built.path)).size).toBeLessThan(200 * 1_024 * 1_024)
    await loadArchive(docker, built.path)
  })
  afterEach(() =>
    docker
      .getContainer(name)
      .remove({ force: true })
      .catch(() => undefined),
  )
  afterAll(async () => {
    await rm(dist, { recursive: true, force: true })
  })

  test('is loaded by the engine and connects as a container that knows its own name', async () => {
    const container = await docker.createContainer({
      name,
      Image: reference,
      Env: [`CRUX_URL=${server.url}`, 'CRUX_NODE_ID=node-1', `CRUX_TOKEN=${server.newInstallToken()}`],
      HostConfig: {
        NetworkMode: 'host',
        RestartPolicy: { Name: 'on-failure' },
        Binds: ['/var/run/docker.sock:/var/run/docker.sock', `${dataDir}:/srv/crux`],
      },
    })
    await container.start()
    const info = await server.waitForLink()
    expect(info.containerName).toBe(name)
    expect((await stat(join(dataDir, '.agent', 'token.json'))).mode & 0o777).toBe(0o600)
    const refused = await server.ask({ case: 'deleteContainers', value: { container: { prefix: '', name } } })
    expect(refused).toMatchObject({ case: 'failure', value: { message: `There is no container ${name}` } })
    expect((await container.inspect()).State.Running).toBe(true)
  })

  test('fills volumes from a container where the data directory has another path outside', async () => {
    // The options of the install script.
    const agent = await docker.createContainer({
      name,
      Image: reference,
      Env: [
        `CRUX_URL=${server.url}`,
        'CRUX_NODE_ID=node-1',
        `CRUX_TOKEN=${server.newInstallToken()}`,
        'CRUX_DATA_DIR=/data',
        `DATA_MOUNT_PATH=${dataDir}`,
      ],
      HostConfig: {
        NetworkMode: 'host',
        Binds: ['/var/run/docker.sock:/var/run/docker.sock', `${dataDir}:/data`],
      },
    })
    await agent.start()
    await server.waitForLink()
    const owner = { teamId: 't', projectId: 'p', nodeId: 'node-1', prefix: name.slice(-10) }
    const image = `crux/${name}-web:1`
    const page = ownImage('web')
    await loadImage(image, { ...page, files: { ...page.files, '/conf/app.ini': 'colour = blue' } })
    const storage = storageMissing() ? undefined : await startStorage()
    await storage?.createBucket('assets')
    await storage?.put('assets', 'v1/logo.txt', 'crux')
    const access = { url: storage?.url ?? '', ...storageAccount }
    const volumes = ['conf', 'assets', 'made'].map((one) => ({ name: one, path: `/${one}`, type: 'ro' as const }))
    const config = {
      name: 'web',
      user: 1_000,
      volumes: volumes.map((one) => (one.name === 'conf' ? { ...one, path: '/settings' } : one)),
      configContainer: { image, path: '/conf', keepFiles: false, volume: 'conf' },
      ...(storage && {
        storage: { storageId: '019a7d3e-8c52-7f0b-9d4e-2f6a1b3c5d7e', bucket: 'assets/v1', path: 'assets' },
      }),
      initContainers: [
        {
          name: 'make',
          image,
          useParentConfig: false,
          command: [{ key: '/bin/sh' }, { key: '-c' }],
          args: [{ key: 'cat /c/app.ini > /made/all' }],
          volumes: [
            { name: 'conf', path: '/c' },
            { name: 'made', path: '/made' },
          ],
        },
      ],
    }
    try {
      const instance = { image, localOnly: true, config, ...(storage && { storage: access }) }
      const release = makeRelease({ owner, instances: [instance] })
      expect(await server.deployAndWait(release)).toMatchObject({ successful: true, reason: '' })
      const { Mounts } = await docker.getContainer(`${owner.prefix}-web`).inspect()
      expect(Mounts.map(({ Source }) => Source).sort()).toEqual(
        ['assets', 'conf', 'made'].map((one) => join(dataDir, owner.prefix, 'web', one)),
      )
      const read = (...path: string[]) => readFile(join(dataDir, owner.prefix, 'web', ...path), 'utf8')
      expect([await read('conf', 'app.ini'), await read('made', 'all')]).toEqual(['colour = blue', 'colour = blue'])
      if (storage) {
        expect(await read('assets', 'logo.txt')).toBe('crux')
        expect((await stat(join(dataDir, owner.prefix, 'web', 'assets', 'logo.txt'))).uid).toBe(1_000)
      }
    } finally {
      await docker
        .getContainer(`${owner.prefix}-web`)
        .remove({ force: true })
        .catch(() => undefined)
      await removeImages(docker, `crux/${name}-web`)
      await storage?.dispose()
    }
  })

  test('keeps ports open in a container of its own without the agent, over a handover and over its restarts', async () => {
    const agent = await docker.createContainer({
      name,
      Image: reference,
      Env: [`CRUX_URL=${server.url}`, 'CRUX_NODE_ID=node-1', `CRUX_TOKEN=${server.newInstallToken()}`],
      HostConfig: {
        NetworkMode: 'host',
        RestartPolicy: { Name: 'on-failure' },
        Binds: ['/var/run/docker.sock:/var/run/docker.sock', `${dataDir}:/srv/crux`],
      },
    })
    await agent.start()
    await server.waitForLink()
    const owner = { teamId: 't', projectId: 'p', nodeId: 'node-1', prefix: name.slice(-10) }
    const image = `crux/${name}-web:1`
    await loadImage(image, ownImage('held'))
    const port = await freePort()
    const web = { name: 'web', ports: [{ internal: 8080, external: port }], portGate: { enabled: true } }
    try {
      const release = makeRelease({ owner, instances: [{ image, localOnly: true, config: web }] })
      expect(await server.deployAndWait(release)).toMatchObject({ successful: true })
      const gate = docker.getContainer(`${name}-gate`)
      expect((await gate.inspect()).Config.Labels['dev.crux.service-category']).toBe('_internal')
      const kept = await server.ask({
        case: 'deleteContainers',
        value: { container: { prefix: '', name: `${name}-gate` } },
      })
      expect(kept).toMatchObject({ case: 'failure', value: { message: `There is no container ${name}-gate` } })
      expect((await gate.inspect()).State.Running).toBe(true)

      const requests = loadPort(port, 2)
      await agent.remove({ force: true })
      const { pid } = await getGate(dataDir)
      const control = await connectGate(join(dataDir, '.agent', 'gate'))
      expect(await control?.ask({ kind: 'handover', entry: '/agent/gate.mjs' })).toMatchObject({ ok: true })
      control?.close()
      await waitUntil('the successor answers', async () => (await getGate(dataDir)).pid !== pid)
      await waitUntil('requests went on', () => requests.total() > 200)
      await requests.stop()
      expect(requests.bad).toEqual([])

      // The init starts the gate again when the last one has ended, and the engine starts the init.
      const processes = (await gate.top()).Processes.map(([, id]: string[]) => Number(id))
      process.kill(Math.max(...processes), 'SIGKILL')
      expect(await waitUntil('it answers again', () => askPort(port).catch(() => undefined))).toBe('held')
      await gate.restart({ t: 1 })
      expect(await waitUntil('it answers again', () => askPort(port).catch(() => undefined))).toBe('held')
    } finally {
      for (const one of [`${name}-gate`, `${owner.prefix}-web`])
        await docker
          .getContainer(one)
          .remove({ force: true })
          .catch(() => undefined)
      await removeImages(docker, `crux/${name}-web`)
    }
  })
})

/** The creation time makes it unique: the same image from a registry of another test would not count as built on this node. */
const ownImage = (text: string) => ({ ...webImage(text), created: new Date().toISOString() })

const getGate = (dataDir: string) => waitUntil('the gate answers', () => lookAtGate(dataDir))

async function residentMegabytes(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024
}
