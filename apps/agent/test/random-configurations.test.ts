import { randomUUID } from 'node:crypto'
import type { FinalContainerConfig } from '@crux/contract'
import { arbitraryConfig } from '@crux/rules/arbitrary-config'
import { freePort } from '@crux/test-kit'
import { sample } from 'fast-check'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { differences } from './field-table/differences.ts'
import { startWorld, type World, webImage } from './kit/index.ts'

/** Every run deploys the same; another seed by CRUX_TEST_SEED. */
const seed = Number(process.env.CRUX_TEST_SEED ?? 20_261_121)
const total = process.env.CRUX_TEST_FULL === '1' ? 200 : 10
const perRelease = 20
const networkName = `random-${randomUUID().slice(0, 8)}`

let world: World
let image: string
beforeAll(async () => {
  world = await startWorld()
  image = (await world.publish('web:1', webImage('random'))).reference
})
afterEach(() => world.clear())
afterAll(async () => {
  await world.dispose()
  for (const number of [1, 2, 3])
    await world.docker
      .getNetwork(`${networkName}-${number}`)
      .remove()
      .catch(() => undefined)
})

async function makeConfigs(from: number, count: number): Promise<FinalContainerConfig[]> {
  const configs: FinalContainerConfig[] = []
  for (let index = from; index < from + count; index++) {
    const hostPorts = [await freePort(), await freePort()]
    const [config] = sample(arbitraryConfig({ runnable: true, hostPorts, networkName }), {
      numRuns: 1,
      seed: seed + index,
    })
    if (!config) throw new Error('fast-check gives what it is asked for')
    const { healthCheckConfig } = config
    configs.push({
      ...config,
      name: `r${index}`,
      // The first check comes after the interval, and each start waits for it.
      ...(healthCheckConfig ? { healthCheckConfig: { ...healthCheckConfig, intervalSeconds: 1 } } : {}),
    })
  }
  return configs
}

test(
  `${total} random valid configurations are deployed and read back without a difference`,
  async () => {
    const found: string[] = []
    for (let done = 0; done < total; done += perRelease) {
      const configs = await makeConfigs(done, Math.min(perRelease, total - done))
      const outcome = await world.server.deployAndWait(
        world.release({
          hostDangerousAllowed: true,
          instances: configs.map((config) => ({ instanceId: config.name, image, config })),
        }),
        300_000,
      )
      expect(outcome, `seed ${seed}`).toMatchObject({ successful: true, reason: '' })
      for (const config of configs)
        for (const difference of differences(config, await world.inspect(config.name)))
          found.push(`seed ${seed + Number(config.name.slice(1))}: ${difference}`)
      await world.clear()
    }
    expect(found).toEqual([])
  },
  total * 20_000 + 60_000,
)
