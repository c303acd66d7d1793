import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { networkName, teamNetworkName } from '../src/engines/docker/containers/names.ts'
import { label } from '../src/engines/labels.ts'
import { startTestEnvironment, type TestEnvironment, waitUntil, webImage } from './kit/index.ts'

let team: TestEnvironment
let stranger: TestEnvironment
let images: Map<TestEnvironment, string>
const foreign = `foreign-${randomUUID().slice(0, 8)}`

beforeAll(async () => {
  ;[team, stranger] = await Promise.all([startTestEnvironment(), startTestEnvironment()])
  images = new Map(
    await Promise.all(
      [team, stranger].map(
        async (testEnvironment) =>
          [testEnvironment, (await testEnvironment.publish('web:1', webImage('one'))).reference] as const,
      ),
    ),
  )
  await team.docker.createNetwork({ Name: foreign })
})
afterEach(async () => {
  await Promise.all([team, stranger].map((testEnvironment) => deletePrefixes(testEnvironment)))
})
afterAll(async () => {
  await Promise.all([team.dispose(), stranger.dispose()])
  await team.docker
    .getNetwork(foreign)
    .remove()
    .catch(() => undefined)
})

type Options = { prefix?: string; admin?: boolean; name?: string; initImage?: string; args?: string[] }
function getRelease(
  testEnvironment: TestEnvironment,
  keys: readonly string[],
  { prefix, admin, name = 'web', args }: Options = {},
) {
  return testEnvironment.release({
    owner: { ...testEnvironment.owner, ...(prefix ? { prefix, projectId: `project-of-${prefix}` } : {}) },
    hostDangerousAllowed: admin ?? false,
    instances: [
      {
        image: images.get(testEnvironment) ?? '',
        config: {
          name,
          networks: keys.map((key) => ({ key })),
          ...(args ? { args: args.map((key) => ({ key })) } : {}),
        },
      },
    ],
  })
}

async function deploy(testEnvironment: TestEnvironment, keys: readonly string[], options: Options = {}) {
  const outcome = await testEnvironment.server.deployAndWait(getRelease(testEnvironment, keys, options))
  expect(outcome).toMatchObject({ reason: '', successful: true })
}

/** Returns why the release failed; it must fail. */
async function refused(
  testEnvironment: TestEnvironment,
  keys: readonly string[],
  options: Options = {},
): Promise<string> {
  const outcome = await testEnvironment.server.deployAndWait(getRelease(testEnvironment, keys, options))
  expect(outcome.successful).toBe(false)
  return outcome.reason
}

const secondPrefix = (testEnvironment: TestEnvironment) => `${testEnvironment.owner.prefix}x`
const listOwners = (testEnvironment: TestEnvironment) => [
  testEnvironment.owner,
  {
    ...testEnvironment.owner,
    prefix: secondPrefix(testEnvironment),
    projectId: `project-of-${secondPrefix(testEnvironment)}`,
  },
]

async function deletePrefixes(testEnvironment: TestEnvironment) {
  for (const owner of listOwners(testEnvironment))
    await testEnvironment.server.ask({ case: 'deleteContainers', value: { owner } })
}

const networkNames = async () => (await team.docker.listNetworks()).map(({ Name }) => Name)
const gone = (name: string) => waitUntil(`the end of ${name}`, async () => !(await networkNames()).includes(name))
const joined = async (container: string) =>
  Object.keys((await team.docker.getContainer(container).inspect()).NetworkSettings.Networks)

/** What a container receives from the web server at a host name or address; empty when it cannot connect. */
async function reach(container: string, host: string): Promise<string> {
  const created = await team.docker.getContainer(container).exec({
    Cmd: ['/bin/sh', '-c', `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 2 ${host} 8080 2>/dev/null; true`],
    AttachStdout: true,
    Tty: true,
  })
  let output = ''
  for await (const chunk of await created.start({ Tty: true })) output += String(chunk)
  return output.replaceAll('\r', '').split('\n\n')[1]?.trim() ?? ''
}

/**
 * Whether a container gets an answer three times in a row. The engine removes the rule that isolates networks for some milliseconds
 * whenever a network is created, as other tests on it do.
 */
async function isReachable(container: string, host: string): Promise<boolean> {
  for (let attempt = 0; attempt < 3; attempt++) if ((await reach(container, host)) === '') return false
  return true
}

async function listAddresses(container: string): Promise<string[]> {
  const { Networks } = (await team.docker.getContainer(container).inspect()).NetworkSettings
  return Object.values(Networks).map(({ IPAddress }) => IPAddress)
}

describe('a network of the team', () => {
  test('connects two projects that name the same key and no other team', async () => {
    await deploy(team, ['shared'])
    await deploy(team, ['shared'], { prefix: secondPrefix(team) })
    await deploy(stranger, ['shared'])
    const [mine, second, theirs] = [team.name('web'), `${secondPrefix(team)}-web`, stranger.name('web')]
    expect(await reach(mine, second)).toBe('one')
    expect(await reach(second, mine)).toBe('one')
    expect(await reach(theirs, theirs)).toBe('one')
    for (const host of [mine, ...(await listAddresses(mine))]) expect(await isReachable(theirs, host)).toBe(false)
    const name = teamNetworkName(team.owner, 'shared')
    expect(name).not.toBe(teamNetworkName(stranger.owner, 'shared'))
    expect((await team.docker.getNetwork(name).inspect()).Labels).toEqual({
      [label.team]: team.owner.teamId,
      [label.node]: team.owner.nodeId,
      [label.teamNetwork]: 'shared',
    })
  })

  test('stays while a stopped container belongs to it and is removed with the last one', async () => {
    await deploy(team, ['shared'])
    await deploy(team, ['shared'], { prefix: secondPrefix(team) })
    const name = teamNetworkName(team.owner, 'shared')
    const [first, second] = listOwners(team)
    await team.docker.getContainer(`${secondPrefix(team)}-web`).stop({ t: 0 })
    await team.server.ask({ case: 'deleteContainers', value: { owner: first } })
    expect(await networkNames()).toContain(name)
    await team.server.ask({ case: 'deleteContainers', value: { owner: second } })
    await gone(name)
  })

  test('is removed after a release that failed and when a release no longer names it', async () => {
    const reason = await refused(team, ['failing'], { args: ['/bin/false'] })
    expect(reason).toContain('exit code')
    await gone(teamNetworkName(team.owner, 'failing'))
    await deploy(team, ['before'])
    expect(await networkNames()).toContain(teamNetworkName(team.owner, 'before'))
    await deploy(team, ['after'])
    await gone(teamNetworkName(team.owner, 'before'))
    expect(await joined(team.name('web'))).toContain(teamNetworkName(team.owner, 'after'))
  })

  test('is kept by a release in progress while another one removes the last container', async () => {
    for (let round = 0; round < 3; round++) {
      await deploy(team, ['shared'], { prefix: secondPrefix(team) })
      const under = getRelease(team, ['shared'])
      team.server.deploy(under)
      await team.server.ask({ case: 'deleteContainers', value: { owner: listOwners(team)[1] } })
      expect(await team.server.getOutcome(under)).toMatchObject({ successful: true, reason: '' })
      expect(await joined(team.name('web'))).toContain(teamNetworkName(team.owner, 'shared'))
      await deletePrefixes(team)
    }
  })

  test('is not joined when the network with its name was not created for the team', async () => {
    const name = teamNetworkName(team.owner, 'taken')
    const taken = await team.docker.createNetwork({ Name: name })
    try {
      expect(await refused(team, ['taken'])).toBe(
        `the network ${name} exists already and was not made for this: remove it`,
      )
      expect(await networkNames()).toContain(name)
    } finally {
      await taken.remove()
    }
  })

  test('receives containers that are on a network of the previous naming with the next release', async () => {
    const release = getRelease(team, ['front'])
    expect(await team.server.deployAndWait(release)).toMatchObject({ successful: true })
    const name = teamNetworkName(team.owner, 'front')
    const { Id } = await team.inspect('web')
    await team.docker.getNetwork(foreign).connect({ Container: Id })
    await team.docker.getNetwork(name).disconnect({ Container: Id })
    const again = getRelease(team, ['front'])
    again.instances = release.instances
    expect(await team.server.deployAndWait(again)).toMatchObject({ successful: true })
    const networks = await joined(team.name('web'))
    expect(networks).toContain(name)
    expect(networks).not.toContain(foreign)
    expect((await team.inspect('web')).Id).not.toBe(Id)
  })
})

describe('a network that Crux created for a team or prefix', () => {
  test('cannot be joined by another team by its name, its id or the beginning of its id', async () => {
    await deploy(team, ['shared'])
    const mine = team.name('web')
    const own = await team.docker.getNetwork(networkName(team.owner)).inspect()
    const shared = await team.docker.getNetwork(teamNetworkName(team.owner, 'shared')).inspect()
    const keys = [own, shared].flatMap(({ Name, Id }) => [Name, Id, Id.slice(0, 12)])
    await deploy(stranger, keys)
    const theirs = stranger.name('web')
    expect((await joined(theirs)).sort()).toEqual(
      [networkName(stranger.owner), ...keys.map((key) => teamNetworkName(stranger.owner, key))].sort(),
    )
    expect(await reach(theirs, theirs)).toBe('one')
    for (const host of [mine, ...(await listAddresses(mine))]) {
      expect(await reach(mine, host)).toBe('one')
      expect(await isReachable(theirs, host)).toBe(false)
    }
  })

  test('is refused to another team as a network of the engine for a user and for an admin', async () => {
    await deploy(team, ['shared'])
    const own = await team.docker.getNetwork(networkName(team.owner)).inspect()
    const names = [own.Name, teamNetworkName(team.owner, 'shared')]
    for (const name of [...names, own.Id.slice(0, 12)])
      expect(await refused(stranger, [`engine:${name}`])).toContain("needs an admin's permission")
    for (const name of names)
      expect(await refused(stranger, [`engine:${name}`], { admin: true })).toBe(
        `the network ${name} belongs to a prefix or a team and cannot be joined by its name`,
      )
    const short = own.Id.slice(0, 12)
    expect(await refused(stranger, [`engine:${short}`], { admin: true })).toContain(
      `the engine has no network ${short}`,
    )
    expect(await refused(stranger, [`engine:${own.Id}`], { admin: true })).toContain('not its id')
    expect(await stranger.names()).toEqual([])
  })

  test('is refused as a network of the engine within its own team too', async () => {
    await deploy(team, ['shared'])
    const reason = await refused(team, [`engine:${networkName(team.owner)}`], {
      admin: true,
      prefix: secondPrefix(team),
    })
    expect(reason).toContain('belongs to a prefix or a team')
  })
})

describe('a network of the engine', () => {
  test('is joined with permission, refused without it, and never removed', async () => {
    expect(await refused(team, [`engine:${foreign}`])).toContain("needs an admin's permission")
    await deploy(team, [`engine:${foreign}`], { admin: true })
    expect(await joined(team.name('web'))).toContain(foreign)
    await deletePrefixes(team)
    await gone(networkName(team.owner))
    expect(await networkNames()).toContain(foreign)
  })

  test('that does not exist fails the release with a message and is not created', async () => {
    const name = `missing-${randomUUID().slice(0, 8)}`
    expect(await refused(team, [`engine:${name}`], { admin: true })).toBe(
      `the engine has no network ${name}: create it, or name a network of the team`,
    )
    expect(await networkNames()).not.toContain(name)
  })

  test.each(['container:abc', 'host', 'none', 'default', 'bridge'])('cannot be the network mode %s', async (mode) => {
    for (const key of [mode, `engine:${mode}`])
      expect(await refused(team, [key], { admin: true })).toContain(`the network "${key}" cannot be joined`)
  })
})

describe('an init container', () => {
  test("is on the network of its prefix and not on the engine's default bridge", async () => {
    const release = getRelease(team, [])
    const [instance] = release.instances
    if (!instance) throw new Error('one instance')
    const config = JSON.parse(instance.configJson)
    config.initContainers = [
      { name: 'wait', image: images.get(team), args: [{ key: '/bin/sleep' }, { key: '600' }], useParentConfig: false },
    ]
    instance.configJson = JSON.stringify(config)
    team.server.deploy(release)
    const init = `${team.name('web')}.init-wait`
    // The engine lists a container a moment before it can be inspected by its name.
    const networks = await waitUntil('the init container', () => joined(init).catch(() => undefined))
    expect(networks).toEqual([networkName(team.owner)])
    const { key } = release
    team.server.send({ case: 'cancelDeployment', value: { ...(key ? { release: key } : {}) } })
    expect(await team.server.getOutcome(release)).toMatchObject({ cancelled: true })
  })
})
