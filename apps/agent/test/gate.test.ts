import { freePort } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { askPort, loadPort, lookAtGate, startWorld, type World, waitUntil, webImage } from './kit/index.ts'

let world: World
let one: string
let two: string
let broken: string
let deaf: string

beforeAll(async () => {
  world = await startWorld()
  const images = {
    one: webImage('one'),
    two: webImage('two'),
    broken: { changes: ['CMD ["/bin/false"]'] },
    deaf: { changes: [`CMD ["/bin/sh","-c","trap 'exit 0' TERM; sleep 1000 & wait"]`] },
  }
  const made = await Promise.all(Object.entries(images).map(([name, image]) => world.publish(`${name}:1`, image)))
  ;[one = '', two = '', broken = '', deaf = ''] = made.map(({ reference }) => reference)
})
afterEach(() => world.clear())
afterAll(() => world.dispose())

const web = (image: string, port: number, more: object = {}) => ({
  instanceId: 'web',
  image,
  config: { name: 'web', ports: [{ internal: 8080, external: port }], portGate: { enabled: true }, ...more },
})
const deploy = (image: string, port: number, more: object = {}) =>
  world.server.deployAndWait(world.release({ instances: [web(image, port, more)] }))

describe('a port that stays open', () => {
  test('answers through the gate, which the engine publishes nothing for', async () => {
    const port = await freePort()
    expect(await deploy(one, port)).toMatchObject({ successful: true })
    expect(await askPort(port)).toBe('one')
    expect(await askPort(port, '::1')).toBe('one')
    expect((await world.inspect('web')).HostConfig.PortBindings).toEqual({})
    const answer = await world.server.ask({ case: 'listContainers', value: { prefix: world.owner.prefix } })
    const listed = answer?.case === 'containers' ? answer.value.containers : []
    expect(listed[0]?.ports).toMatchObject([{ internal: 8080, external: port, protocol: 'tcp' }])
    await world.clear()
    await waitUntil('the gate ends with the last port', async () => !(await lookAtGate(world.dataDir)))
  })

  test('loses no request while its container is replaced, also by one that fails', async () => {
    const port = await freePort()
    await deploy(one, port)
    const requests = loadPort(port)
    for (const [image, successful] of [
      [two, true],
      [broken, false],
      [deaf, false],
      [one, true],
    ] as const) {
      const expectedState = image === deaf ? { expectedState: { state: 'running', timeout: 2 } } : {}
      expect(await deploy(image, port, expectedState)).toMatchObject({
        successful,
        ...(successful ? {} : { formerRestored: true }),
      })
    }
    await waitUntil('enough requests', () => requests.total() > 3_000, 60_000)
    await requests.stop()
    expect(requests.bad).toEqual([])
    expect(Object.keys(requests.seen).sort()).toEqual(['one', 'two'])
    expect(await world.names()).toEqual([world.name('web')])
  }, 120_000)
})
