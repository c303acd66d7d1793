import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@crux/service-kit'
import { loadImage } from '@crux/test-kit'
import { expect, test } from 'vitest'
import { openDockerDriver } from '../src/engines/docker/client/driver.ts'
import { label } from '../src/engines/labels.ts'
import { describeEngine } from './engine-suite.ts'
import { openCuttableSocket } from './kit/cuttable-socket.ts'
import { FakeServer, openEngine, startTestAgent, waitUntil } from './kit/index.ts'

const log = createLogger({ name: 'test', level: 'silent' })

describeEngine('Docker', async () => {
  const docker = openEngine()
  const image = `crux-driver-suite-${randomUUID().slice(0, 8)}:1`
  await loadImage(image, {})
  const driver = await openDockerDriver('unix:///var/run/docker.sock', log)
  const made: string[] = []
  return {
    view: driver,
    describe: () => driver.describe(),
    prefix: `suite-${randomUUID().slice(0, 8)}`,
    async run(prefix, name, lines) {
      const script = `trap 'exit 0' TERM; test -e /tmp/printed || for line in ${lines.join(' ')}; do echo $line; done; touch /tmp/printed; while true; do sleep 0.1; done`
      const container = await docker.createContainer({
        name: `${prefix}-${name}`,
        Image: image,
        Cmd: ['/bin/sh', '-c', script],
        Labels: { [label.prefix]: prefix },
      })
      made.push(container.id)
      await container.start()
    },
    async dispose() {
      driver.close()
      for (const id of made)
        await docker
          .getContainer(id)
          .remove({ force: true })
          .catch(() => undefined)
      await docker.getImage(image).remove({ force: true })
    },
  }
})

test('an agent whose engine becomes unavailable keeps its link, reports it, and catches up later', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'crux-socket-'))
  const socket = await openCuttableSocket(directory)
  const server = new FakeServer()
  await server.start()
  const docker = openEngine()
  const image = `crux-engine-away-${randomUUID().slice(0, 8)}:1`
  await loadImage(image, {})
  const name = image.split(':')[0] ?? ''
  const agent = await startTestAgent(server, { token: server.newInstallToken(), dockerHost: socket.dockerHost })
  try {
    await server.waitForLink()
    server.send({ case: 'watchContainers', value: { streamId: 'watch' } })
    await waitUntil('the first list', () => server.containerUpdates.some(({ full }) => full))
    await socket.cut()
    const answer = await server.ask({ case: 'listContainers', value: {} })
    expect(answer).toMatchObject({
      case: 'failure',
      value: { message: expect.stringContaining('The Docker engine does not answer') },
    })
    await docker.createContainer({ name, Image: image, Cmd: ['/bin/sh'] })
    await socket.heal()
    await waitUntil('the container made meanwhile', () =>
      server.containerUpdates.some(({ containers }) => containers.some(({ ref }) => ref?.name === name)),
    )
    expect(server.links).toHaveLength(1)
    expect((await server.ask({ case: 'listContainers', value: {} })).case).toBe('containers')
  } finally {
    await agent.dispose()
    await server.stop()
    await docker
      .getContainer(name)
      .remove({ force: true })
      .catch(() => undefined)
    await docker
      .getImage(image)
      .remove({ force: true })
      .catch(() => undefined)
    await socket.cut()
    await rm(directory, { recursive: true, force: true })
  }
})
