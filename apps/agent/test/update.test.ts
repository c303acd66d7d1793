import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UpdateState } from '@crux/agent-protocol'
import { freePort, loadImage } from '@crux/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildAgentImage } from '../scripts/build-image.ts'
import {
  FakeServer,
  loadArchive,
  loadPort,
  lookAtGate,
  makeRelease,
  openEngine,
  removeImages,
  waitUntil,
  webImage,
} from './kit/index.ts'

/** apps/server/test/agent-update.test.ts has the failures, with a real server. */
const docker = openEngine()
const name = `crux-update-test-${randomUUID().slice(0, 8)}`
const owner = { teamId: 't', projectId: 'p', nodeId: 'node-1', prefix: name.slice(-10) }
let dist: string
let dataDir: string
let server: FakeServer
let oldReference = ''

beforeAll(async () => {
  dist = await mkdtemp(join(tmpdir(), 'crux-update-dist-'))
  dataDir = await mkdtemp(join(tmpdir(), 'crux-update-'))
  server = new FakeServer()
  await server.start()
})
afterAll(async () => {
  for (const each of [name, `${name}-update`, `${name}-gate`, `${owner.prefix}-web`, `${owner.prefix}-2-slow`])
    await docker
      .getContainer(each)
      .remove({ force: true })
      .catch(() => undefined)
  await server.stop()
  await removeImages(docker, `crux/${name}-web`)
  // Version 1.0.0 has the name of every build, which other tests use.
  await docker
    .getImage(oldReference)
    .remove({ force: true })
    .catch(() => undefined)
  await rm(dist, { recursive: true, force: true })
  await rm(dataDir, { recursive: true, force: true })
})

test('ports that the gate holds answer every request during an update, and the new agent continues a release of the old one', async () => {
  const old = await buildAgentImage(join(dist, 'old'), '0.9.0')
  oldReference = old.reference
  await loadArchive(docker, old.path)
  const next = await buildAgentImage(join(dist, 'new'), '1.0.0')
  const agent = await docker.createContainer({
    name,
    Image: old.reference,
    Env: [`CRUX_URL=${server.url}`, 'CRUX_NODE_ID=node-1', `CRUX_TOKEN=${server.newInstallToken()}`],
    HostConfig: {
      NetworkMode: 'host',
      RestartPolicy: { Name: 'on-failure' },
      Binds: ['/var/run/docker.sock:/var/run/docker.sock', `${dataDir}:/srv/crux`],
    },
  })
  await agent.start()
  expect(await server.waitForLink()).toMatchObject({ version: '0.9.0', updatable: true })
  const image = `crux/${name}-web:1`
  await loadImage(image, { ...webImage('held'), created: new Date().toISOString() })
  const port = await freePort()
  const web = { name: 'web', ports: [{ internal: 8080, external: port }], portGate: { enabled: true } }
  const gated = makeRelease({ owner, instances: [{ image, localOnly: true, config: web }] })
  expect(await server.deployAndWait(gated)).toMatchObject({ successful: true })
  const gate = await lookAtGate(dataDir)

  const requests = loadPort(port, 2)
  server.startUpdate(next.path)
  await waitUntil('the new container is started', () => listNames(`${name}-update`), 120_000)
  // The old agent accepts it, and cannot end it before its journal is closed.
  const slow = makeRelease({
    owner: { ...owner, prefix: `${owner.prefix}-2` },
    instances: [{ image, localOnly: true, config: { name: 'slow' } }],
    observationWindowMs: 10_000,
  })
  server.deploy(slow)
  await waitUntil('the new agent is connected', () => server.links.at(-1)?.version === '1.0.0', 90_000)
  expect(server.update).toMatchObject({ state: UpdateState.COMPLETED, error: '' })
  expect(server.links.at(-1)).toMatchObject({ containerName: name, openReleases: [{ number: slow.key?.number }] })
  expect(await server.getOutcome(slow)).toMatchObject({ successful: true })
  expect(await lookAtGate(dataDir)).toMatchObject({ ports: gate?.ports })
  await waitUntil('requests went on', () => requests.total() > 200)
  await requests.stop()
  expect(requests.bad).toEqual([])
  await waitUntil('the old container is removed', async () => !(await listNames(`${name}-update`)), 20_000)
}, 300_000)

const listNames = async (wanted: string) =>
  (await docker.listContainers({ all: true, filters: { name: [wanted] } })).length > 0
