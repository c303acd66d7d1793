import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestDatabase } from '@crux/postgres'
import { exits, type ImageSpec, idle, saveImage } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Caller } from '../src/access/actor.ts'
import { engineAnswers } from '../src/nodes/local-agent-process.ts'
import { findNodeOfAnyTeam, toNode } from '../src/nodes/store.ts'
import { describeUpdate, updateAgent } from '../src/nodes/updates.ts'
import { agentDirectory } from '../src/places.ts'
import {
  actor,
  eventually,
  makeDatabase,
  makeGateway,
  makeInstallToken,
  makeNode,
  makeTeam,
  type TestGateway,
} from './make-gateway.ts'

/** Real agents in containers, built with two versions, on the real engine. */
const ready = (await engineAnswers()) && process.getuid?.() === 0
const run = promisify(execFile)
const docker = async (...args: string[]) => (await run('docker', args)).stdout.trim()
const suffix = randomBytes(4).toString('hex')
/** `user` has the same content as another image of the agent; `only` has one name, as after the install script. */
const images = { user: `crux/update-user-${suffix}:1`, only: `crux/update-only-${suffix}:1` }
const failing = `crux/update-failing-${suffix}:1`
const updateMs = 90_000

let database: TestDatabase
let gateway: TestGateway
let dist: string
let dataDir: string
let name: string
let nodeId: string
let caller: Caller

async function buildImage(version: string): Promise<{ path: string; reference: string }> {
  const directory = join(dist, version)
  const { stdout } = await run(process.execPath, [join(agentDirectory, 'scripts/build-image.ts'), directory, version])
  const [path = '', reference = ''] = stdout.trim().split(' ')
  return { path, reference }
}

beforeAll(async () => {
  if (!ready) return
  database = await makeDatabase()
  dist = await mkdtemp(join(tmpdir(), 'crux-update-dist-'))
  const { path, reference } = await buildImage('0.9.0')
  await docker('load', '-i', path)
  await docker('tag', reference, images.user)
  // The same layers with another id.
  const container = await docker('create', images.user)
  await docker('commit', '--change', `LABEL only=${suffix}`, container, images.only)
  await docker('rm', container)
  await buildImage('1.0.0')
})
afterAll(async () => {
  if (!ready) return
  await docker('rmi', '-f', ...Object.values(images), failing).catch(() => undefined)
  await rm(dist, { recursive: true, force: true })
  await database.drop()
})
beforeEach(async () => {
  if (!ready) return
  name = `crux-update-${randomBytes(4).toString('hex')}`
  dataDir = await mkdtemp(join(tmpdir(), 'crux-update-'))
})
afterEach(async () => {
  if (!ready) return
  const containers = await docker('ps', '-aq', '--filter', `name=${name}`)
  if (containers) await docker('rm', '-f', ...containers.split('\n'))
  await gateway.stop()
  await rm(dataDir, { recursive: true, force: true })
})

/** A node with an agent of version 0.9.0, as the install script starts it, on a server that has the given image. */
async function installOldAgent({ agentImage, image = images.user }: { agentImage?: string; image?: string } = {}) {
  gateway = await makeGateway({
    databaseUrl: database.url,
    config: { agentImage, agentImagePath: join(dist, '1.0.0/agent-image.tar') },
  })
  caller = { team: await makeTeam(gateway.app), actor } as Caller
  nodeId = (await makeNode(gateway.app, caller.team)).id
  const token = await makeInstallToken(gateway.app, nodeId)
  await docker(
    ...['run', '--detach', '--name', name, '--restart', 'on-failure', '--network', 'host', '--label', 'own=label'],
    ...['--env', `CRUX_URL=${gateway.url}`, '--env', `CRUX_NODE_ID=${nodeId}`, '--env', `CRUX_TOKEN=${token}`],
    ...['--env', 'CRUX_DATA_DIR=/data', '--env', `DATA_MOUNT_PATH=${dataDir}`, '--volume', `${dataDir}:/data`],
    ...['--volume', '/var/run/docker.sock:/var/run/docker.sock', image],
  )
  await waitForNode({ status: 'outdated', version: '0.9.0', updatable: true })
  return inspect(name)
}
const readNode = async () => {
  const row = await findNodeOfAnyTeam(gateway.app, nodeId)
  if (!row) throw new Error('no node')
  const { status, version, updatable } = toNode(row)
  return { status, version, updatable }
}
const waitForNode = (wanted: Partial<Awaited<ReturnType<typeof readNode>>>) =>
  eventually(
    readNode,
    (node) => Object.entries(wanted).every(([key, value]) => node[key as keyof typeof node] === value),
    updateMs,
  )
type Inspection = {
  Id: string
  Config: { Env: string[]; Labels: Record<string, string> }
  HostConfig: { Binds: string[]; NetworkMode: string; RestartPolicy: { Name: string } }
  State: { Running: boolean; Pid: number }
}
const inspect = async (container: string): Promise<Inspection> => JSON.parse(await docker('inspect', container))[0]
const hasImage = (image: string) =>
  docker('image', 'inspect', image).then(
    () => true,
    () => false,
  )
const listNames = async () =>
  (await docker('ps', '-a', '--filter', `name=${name}`, '--format', '{{.Names}}')).split('\n').sort()
const waitForNames = (...names: string[]) =>
  eventually(listNames, (found) => JSON.stringify(found) === JSON.stringify(names), updateMs)
const listOwnFiles = async () => (await readdir(join(dataDir, '.agent'))).sort()
const expire = () =>
  gateway.app.database.pool.query('update crux.node_update set deadline_at = now() where node_id = $1', [nodeId])
const getState = async () => (await describeUpdate(gateway.app, nodeId))?.state

/** The old agent serves the node under its name, with its token, and nothing is left of the update. */
async function expectOldAgent(before: Inspection) {
  await waitForNames(name)
  await waitForNode({ status: 'outdated', version: '0.9.0', updatable: true })
  expect(await inspect(name)).toMatchObject({ Id: before.Id, State: { Running: true } })
  expect(await listOwnFiles()).not.toContain('update.json')
}

test.runIf(ready)(
  'an agent of a lower version is replaced by the image of the server, with all that its container had, and its image is removed',
  async () => {
    const before = await installOldAgent({ image: images.only })
    const oldToken = JSON.parse(await readFile(join(dataDir, '.agent/token.json'), 'utf8')).token
    await updateAgent(gateway.app, caller, nodeId)
    await waitForNode({ status: 'connected', version: '1.0.0', updatable: false })
    await waitForNames(name)
    const after = await inspect(name)
    expect(after.Id).not.toBe(before.Id)
    expect(after.HostConfig).toMatchObject({
      Binds: before.HostConfig.Binds,
      NetworkMode: 'host',
      RestartPolicy: { Name: 'on-failure' },
    })
    expect(after.Config.Labels).toMatchObject({ own: 'label', 'org.opencontainers.image.version': '1.0.0' })
    expect(after.Config.Env).toEqual(expect.arrayContaining([`CRUX_NODE_ID=${nodeId}`, 'CRUX_DATA_DIR=/data']))
    expect(after.Config.Env.join()).not.toContain('crux_')
    await eventually(listOwnFiles, (files) => !files.includes('update.json'))
    expect(await hasImage(images.only)).toBe(false)
    const { token } = JSON.parse(await readFile(join(dataDir, '.agent/token.json'), 'utf8'))
    expect(token).not.toBe(oldToken)
    // The token in the file is the valid one: the agent connects with it again.
    await docker('restart', '-t', '5', name)
    await waitForNode({ status: 'connected', version: '1.0.0' })
    expect(await listNames()).toEqual([name])
  },
  300_000,
)

test.runIf(ready)(
  'an image that cannot be pulled leaves the old agent as it is',
  async () => {
    const before = await installOldAgent({ agentImage: '127.0.0.1:9/crux/agent:2' })
    await updateAgent(gateway.app, caller, nodeId)
    await eventually(getState, (state) => state === 'failed', updateMs)
    expect((await describeUpdate(gateway.app, nodeId))?.error).toContain('127.0.0.1:9/crux/agent:2')
    await expectOldAgent(before)
  },
  300_000,
)

test.runIf(ready)(
  'a new agent that ends at once is removed, and the old one continues under its name',
  async () => {
    const before = await installOldAgent()
    await failWith(exits(7))
    expect((await describeUpdate(gateway.app, nodeId))?.error).toMatch(
      /ended at once (with code 7|and was started again)\./,
    )
    await expectOldAgent(before)
  },
  300_000,
)

test.runIf(ready)(
  'an update that never returns is undone at its deadline',
  async () => {
    const before = await installOldAgent()
    await failWith(idle(), async () => {
      await waitForNames(name, `${name}-update`)
      await expire()
    })
    expect((await describeUpdate(gateway.app, nodeId))?.error).toContain('did not connect within 300 seconds')
    await expectOldAgent(before)
  },
  300_000,
)

test.runIf(ready)(
  'an old agent that was killed and starts again undoes the update',
  async () => {
    const before = await installOldAgent()
    await failWith(idle(), async () => {
      await waitForNames(name, `${name}-update`)
      process.kill((await inspect(before.Id)).State.Pid, 'SIGKILL')
    })
    expect((await describeUpdate(gateway.app, nodeId))?.error).toContain('was started again')
    await expectOldAgent(before)
  },
  300_000,
)

test.runIf(ready)(
  'the new agent takes over from an old one that was killed for good, and keeps an image to which a user gave a name',
  async () => {
    const before = await installOldAgent()
    await updateAgent(gateway.app, caller, nodeId)
    await waitForNames(name, `${name}-update`)
    await docker('kill', before.Id).catch(() => undefined)
    await waitForNode({ status: 'connected', version: '1.0.0' })
    await waitForNames(name)
    expect((await inspect(name)).Id).not.toBe(before.Id)
    await eventually(listOwnFiles, (files) => !files.includes('update.json'))
    expect(await hasImage(images.user)).toBe(true)
  },
  300_000,
)

/** Updates to an image that is no agent. It is small, because the whole file is loaded in each update. */
async function failWith(spec: ImageSpec, meanwhile: () => Promise<void> = async () => undefined) {
  const path = join(dist, `${suffix}.tar`)
  await writeFile(path, await saveImage(spec, failing))
  Object.assign(gateway.app.config, { agentImagePath: path })
  await updateAgent(gateway.app, caller, nodeId)
  await meanwhile()
  await eventually(getState, (state) => state === 'failed', updateMs)
}
