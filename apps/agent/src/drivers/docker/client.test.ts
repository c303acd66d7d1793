import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { openDocker } from './client.ts'

test('a request costs no description of the pool of sockets, however many there are', async () => {
  const { docker, close } = await openDocker('unix:///var/run/docker.sock')
  try {
    await Promise.all(Array.from({ length: 20 }, () => docker.version()))
    const { agent } = docker.modem as unknown as { agent: unknown }
    expect(inspect(agent, { showHidden: true, depth: null }).length).toBeLessThan(100)
  } finally {
    close()
  }
})
