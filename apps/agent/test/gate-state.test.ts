import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadImage } from '@crux/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensureNetwork } from '../src/engines/docker/client/networks.ts'
import type { GatePort } from '../src/engines/docker/gate/relay/protocol.ts'
import { readPorts, writePorts } from '../src/engines/docker/gate/relay/state.ts'
import { openEngine, removeImages, webImage } from './kit/index.ts'

const docker = openEngine()
const name = `crux-gate-state-${randomUUID().slice(0, 8)}`
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crux-gate-'))
  await ensureNetwork(docker, { name, internal: false, labels: {} }, { seesHost: true })
  await loadImage(`${name}:1`, webImage('held'))
})
afterAll(async () => {
  await docker.getContainer(name).remove({ force: true })
  await docker.getNetwork(name).remove()
  await removeImages(docker, name)
  await rm(directory, { recursive: true, force: true })
})

test('a gate that restarts routes to its containers, but to none when the engine has restarted them all', async () => {
  const container = await docker.createContainer({ name, Image: `${name}:1`, HostConfig: { NetworkMode: name } })
  await container.start()
  const target = (await container.inspect()).NetworkSettings.Networks[name]?.IPAddress ?? ''
  const port: GatePort = { port: 1, address: '', container: 'c', target, containerPort: 8080, proxy: '', prefix: 'p' }
  const unseen = { ...port, port: 2, target: '203.0.113.7' }
  writePorts(directory, [port, unseen])
  expect(readPorts(directory)).toEqual([port, unseen])
  await container.restart({ t: 0 })
  expect(readPorts(directory)).toEqual([{ ...port, target: '' }, unseen])
})
