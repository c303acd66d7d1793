import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ContainerState } from '@crux/agent-protocol'
import { createLogger } from '@crux/service-kit'
import { expect, test } from 'vitest'
import { watchContainers } from '../../../streams/watch.ts'
import { openDockerDriver } from './driver.ts'

const listed = (id: string) => ({
  Id: id,
  Names: [`/${id}`],
  Image: 'app:1',
  Command: 'run',
  Created: 1,
  Labels: {},
  State: 'running',
  Status: 'Up 2 hours',
  Ports: [],
})
const inspected = (id: string) => ({
  Id: id,
  Name: `/${id}`,
  Config: { Image: 'app:1', Labels: {} },
  State: { Status: 'running', Running: true, StartedAt: '2026-01-01T00:00:00Z', ExitCode: 0 },
  RestartCount: 3,
})

test('a container that the engine holds locked hides no other container and is inspected again when it is free', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'crux-engine-'))
  const path = join(directory, 'docker.sock')
  const free = Promise.withResolvers<void>()
  const engine = createServer(async ({ url = '' }, response) => {
    const id = /containers\/(\w+)\/json/.exec(url)?.[1]
    if (url === '/version') return response.end('{}')
    if (url.includes('/events')) return response.flushHeaders()
    if (id === 'held') await free.promise
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(id ? inspected(id) : ['held', 'other'].map(listed)))
  })
  await new Promise<void>((resolve) => engine.listen(path, resolve))
  const driver = await openDockerDriver(`unix://${path}`, createLogger({ name: 'test', level: 'silent' }), {
    heldMs: 500,
  })
  const ending = new AbortController()
  try {
    const updates = watchContainers(driver, { prefix: undefined, signal: ending.signal })
    const first = (await updates.next()).value
    expect(first?.containers).toMatchObject([
      { engineId: 'held', state: ContainerState.RUNNING, reason: 'Up 2 hours', restartCount: 0 },
      { engineId: 'other', restartCount: 3 },
    ])
    free.resolve()
    const second = (await updates.next()).value
    expect(second).toMatchObject({ full: false, containers: [{ engineId: 'held', restartCount: 3 }] })
  } finally {
    ending.abort()
    driver.close()
    engine.closeAllConnections()
    engine.close()
    await rm(directory, { recursive: true, force: true })
  }
})
