import { constants } from 'node:fs'
import { access, readFile, writeFile } from 'node:fs/promises'
import { createLogger } from '@crux/service-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDockerDriver } from '../src/engines/docker/client/driver.ts'
import { networkName } from '../src/engines/docker/containers/names.ts'
import { createPrefixNetworks } from '../src/engines/docker/networks/prefix-networks.ts'
import { createTeamNetworks } from '../src/engines/docker/networks/team-networks.ts'
import { label } from '../src/engines/labels.ts'
import { startTestEnvironment, type TestEnvironment, waitUntil, webImage } from './kit/index.ts'

let testEnvironment: TestEnvironment
beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
})
afterAll(() => testEnvironment.dispose())

const ownerAt = (suffix: string) => ({ ...testEnvironment.owner, prefix: `${testEnvironment.owner.prefix}${suffix}` })
const listed = () =>
  testEnvironment.docker.listNetworks({ filters: { label: [`${label.node}=${testEnvironment.owner.nodeId}`] } })
const names = async () => (await listed()).map(({ Name }) => Name).sort()

describe('the network of a prefix', () => {
  test('is created when a deployment is prepared and the start uses it', async () => {
    const image = (await testEnvironment.publish('web:1', webImage('one'))).reference
    const { owner, server } = testEnvironment
    server.send({ case: 'preparePrefix', value: { owner } })
    const prepared = await waitUntil('the network', async () => (await listed())[0]?.Id)
    server.send({ case: 'preparePrefix', value: { owner } })
    const release = testEnvironment.release({ instances: [{ image, config: { name: 'web' } }] })
    expect(await server.deployAndWait(release)).toMatchObject({ successful: true })
    const joined = Object.values((await testEnvironment.inspect('web')).NetworkSettings.Networks)
    expect(joined.map(({ NetworkID }) => NetworkID)).toEqual([prepared])
    expect(await names()).toEqual([networkName(owner)])
  })

  test('stays while a container uses it and is removed from a prefix that nothing ran under', async () => {
    const { owner, server } = testEnvironment
    const other = ownerAt('b')
    server.send({ case: 'preparePrefix', value: { owner: other } })
    await waitUntil('the other network', async () => (await names()).includes(networkName(other)))
    server.send({ case: 'releasePrefix', value: { owner } })
    server.send({ case: 'releasePrefix', value: { owner: other } })
    await waitUntil('its end', async () => !(await names()).includes(networkName(other)))
    // A stopped container needs it too, to start again.
    await testEnvironment.docker.getContainer(testEnvironment.name('web')).stop({ t: 0 })
    server.send({ case: 'releasePrefix', value: { owner } })
    expect(await server.ask({ case: 'listContainers', value: { prefix: owner.prefix } })).toMatchObject({
      case: 'containers',
    })
    expect(await names()).toEqual([networkName(owner)])
  })

  test('keeps the known addresses of its bridge while its only container is replaced, also when it existed before', async ({
    skip,
  }) => {
    const { owner, server } = testEnvironment
    const mine = ownerAt('e')
    const prepared = async () => {
      server.send({ case: 'preparePrefix', value: { owner: mine } })
      return waitUntil('the network', async () => (await listed()).find(({ Name }) => Name === networkName(mine)))
    }
    const { Id } = await prepared()
    const setting = `/proc/sys/net/ipv4/conf/br-${Id.slice(0, 12)}/arp_evict_nocarrier`
    const writable = await access(setting, constants.W_OK).then(
      () => true,
      () => false,
    )
    if (!writable) skip('this user may not change the settings of a bridge, or Linux is older than 5.16')
    const read = async () => (await readFile(setting, 'utf8')).trim()
    await waitUntil('the setting of the new bridge', async () => (await read()) === '0')
    // The value after a restart of the machine, which creates the bridges again.
    await writeFile(setting, '1')
    await prepared()
    await waitUntil('the setting of the bridge that existed', async () => (await read()) === '0')
    server.send({ case: 'releasePrefix', value: { owner: mine } })
    await waitUntil('its end', async () => !(await names()).includes(networkName(mine)))
    expect(await names()).toEqual([networkName(owner)])
  })

  test('is not created on a command for another node', async () => {
    const stranger = { ...ownerAt('c'), nodeId: 'another' }
    const mine = ownerAt('d')
    testEnvironment.server.send({ case: 'preparePrefix', value: { owner: stranger } })
    testEnvironment.server.send({ case: 'preparePrefix', value: { owner: mine } })
    await waitUntil('the network of this node', async () => (await names()).includes(networkName(mine)))
    const all = (await testEnvironment.docker.listNetworks()).map(({ Name }) => Name)
    expect(all).not.toContain(networkName(stranger))
  })

  test('is removed after a day without use, as the oldest of too many, and when the agent ends', async () => {
    const driver = await openDockerDriver(
      'unix:///var/run/docker.sock',
      createLogger({ name: 'test', level: 'silent' }),
    )
    let now = Date.now()
    const busy = new Set<string>()
    const log = createLogger({ name: 'test', level: 'silent' })
    const nodeId = () => testEnvironment.owner.nodeId
    const networks = createPrefixNetworks({
      engine: driver.engine,
      nodeId,
      isBusy: (prefix) => busy.has(prefix),
      team: createTeamNetworks({ engine: driver.engine, scope: { covers: () => false }, log }),
      log,
      preparedMax: 2,
      now: () => now,
    })
    try {
      const [used, d, e, f] = [testEnvironment.owner, ownerAt('d'), ownerAt('e'), ownerAt('f')].map(networkName)
      await networks.prepare(ownerAt('e'))
      expect(await names()).toEqual([used, d, e].sort())
      await networks.prepare(ownerAt('f'))
      expect(await names()).toEqual([used, e, f].sort())
      await networks.sweep()
      expect(await names()).toEqual([used, e, f].sort())
      busy.add(ownerAt('f').prefix)
      now += 25 * 60 * 60 * 1_000
      await networks.sweep()
      expect(await names()).toEqual([used, f].sort())
      busy.clear()
      await testEnvironment.agent.stop()
      expect(await names()).toEqual([used])
    } finally {
      driver.close()
    }
  })
})
