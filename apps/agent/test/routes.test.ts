import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startTestEnvironment, type TestEnvironment, waitUntil, webImage } from './kit/index.ts'

let team: TestEnvironment
let stranger: TestEnvironment
let images: Map<TestEnvironment, string>
let labelled: string

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
  const labels = {
    'traefik.http.routers.x.rule': 'Host(`stolen.example`)',
    Caddy: 'stolen.example',
    'com.docker.compose.project': 'theirs',
    'org.dyrectorio.container': 'theirs',
    'dev.crux.gate': '[]',
    'com.example.colour': 'blue',
  }
  labelled = (await team.publish('labelled:1', { ...webImage('labelled'), labels })).reference
})
afterEach(async () => {
  for (const testEnvironment of [team, stranger])
    await testEnvironment.server.ask({ case: 'deleteContainers', value: { owner: testEnvironment.owner } })
})
afterAll(() => Promise.all([team.dispose(), stranger.dispose()]))

type Options = { path?: string; name?: string; admin?: boolean }
const getRelease = (testEnvironment: TestEnvironment, domain: string, { path, name = 'web', admin }: Options = {}) =>
  testEnvironment.release({
    hostDangerousAllowed: admin ?? false,
    instances: [
      {
        image: images.get(testEnvironment) ?? '',
        config: { name, expose: 'expose', routing: { domain, ...(path ? { path } : {}) } },
      },
    ],
  })
/** A host that no other test on the engine uses. */
const host = () => `${team.owner.prefix}.example`
const getOutcome = (testEnvironment: TestEnvironment, domain: string, options?: Options) =>
  testEnvironment.server.deployAndWait(getRelease(testEnvironment, domain, options))
const inUse = (route: string) => `${route} is in use on this node: choose another host name or path`

describe('a host name and path on one engine', () => {
  test('belong to the first owner, running or stopped, and the message names no owner', async () => {
    expect(await getOutcome(team, host())).toMatchObject({ successful: true, reason: '' })
    for (const [domain, path] of [
      [host().toUpperCase(), undefined],
      [host(), '/longer/path'],
      ['*.example', undefined],
    ] as const) {
      const { successful, reason } = await getOutcome(stranger, domain, { ...(path ? { path } : {}), admin: true })
      expect({ successful, reason }).toEqual({
        successful: false,
        reason: inUse(`${domain.toLowerCase()}${path ?? '/'}`),
      })
    }
    await team.docker.getContainer(team.name('web')).stop({ t: 0 })
    expect(await getOutcome(stranger, host())).toMatchObject({ successful: false, reason: inUse(`${host()}/`) })
    expect(await stranger.names()).toEqual([])
    expect(await getOutcome(team, host())).toMatchObject({ successful: true, reason: '' })
  })

  test('may be shared by paths where neither is the beginning of the other', async () => {
    expect(await getOutcome(team, host(), { path: '/a' })).toMatchObject({ successful: true, reason: '' })
    expect(await getOutcome(stranger, host(), { path: '/b' })).toMatchObject({ successful: true, reason: '' })
  })

  test('of a container without an owner are refused too', async () => {
    const foreign = await team.docker.createContainer({
      name: `foreign-${team.owner.prefix}`,
      Image: images.get(team) ?? '',
      Labels: { 'traefik.http.routers.other.rule': `Host(\`${host()}\`) && PathPrefix(\`/app\`)` },
    })
    try {
      expect(await getOutcome(stranger, host())).toMatchObject({ successful: false, reason: inUse(`${host()}/`) })
      expect(await getOutcome(stranger, host(), { path: '/other' })).toMatchObject({ successful: true, reason: '' })
    } finally {
      await foreign.remove({ force: true })
    }
  })

  test('that two releases request at once are never routed to both', async () => {
    for (let round = 0; round < 3; round++) {
      const releases = [team, stranger].map(
        (testEnvironment) => [testEnvironment, getRelease(testEnvironment, `r${round}.${host()}`)] as const,
      )
      for (const [testEnvironment, release] of releases) testEnvironment.server.deploy(release)
      const outcomes = await Promise.all(
        releases.map(([testEnvironment, release]) => testEnvironment.server.getOutcome(release)),
      )
      expect(outcomes.filter(({ successful }) => successful).length).toBeLessThan(2)
      for (const { reason } of outcomes.filter(({ successful }) => !successful))
        expect(reason).toBe(inUse(`r${round}.${host()}/`))
    }
  })

  test('are given to only one instance of a release', async () => {
    const release = team.release({
      instances: ['web', 'api'].map((name) => ({
        image: images.get(team) ?? '',
        config: { name, expose: 'expose' as const, routing: { domain: host() } },
      })),
    })
    const { successful, reason } = await team.server.deployAndWait(release)
    expect({ successful, reason }).toEqual({
      successful: false,
      reason: `${host()}/ is routed to ${team.name('api')} of the same release too: choose another host name or path`,
    })
  })

  test('of Crux itself are given to no container', async () => {
    const { successful, reason } = await getOutcome(team, '127.0.0.1', { path: '/x', admin: true })
    expect({ successful, reason }).toEqual({
      successful: false,
      reason: '127.0.0.1 is the host name of Crux itself: choose another one',
    })
  })
})

test("an image's own labels for Crux, Compose and proxies are emptied on its container and others stay", async () => {
  const release = team.release({ instances: [{ image: labelled, config: { name: 'web' } }] })
  expect(await team.server.deployAndWait(release)).toMatchObject({ successful: true, reason: '' })
  expect((await team.inspect('web')).Config.Labels).toMatchObject({
    'traefik.http.routers.x.rule': '',
    Caddy: '',
    'com.docker.compose.project': '',
    'org.dyrectorio.container': '',
    'dev.crux.gate': '',
    'com.example.colour': 'blue',
  })
  // An emptied label routes nothing, and does not block routes of others.
  expect(await getOutcome(stranger, host())).toMatchObject({ successful: true, reason: '' })
})

test("labels of an init container's image are emptied too", async () => {
  const release = team.release({
    instances: [
      {
        image: images.get(team) ?? '',
        config: {
          name: 'web',
          initContainers: [
            { name: 'wait', image: labelled, args: [{ key: '/bin/sleep' }, { key: '600' }], useParentConfig: false },
          ],
        },
      },
    ],
  })
  team.server.deploy(release)
  const init = `${team.name('web')}.init-wait`
  const info = await waitUntil('the init container runs', async () => {
    const found = await team.docker
      .getContainer(init)
      .inspect()
      .catch(() => undefined)
    return found?.State.Running ? found : undefined
  })
  expect(info.Config.Labels).toMatchObject({
    'traefik.http.routers.x.rule': '',
    'dev.crux.gate': '',
    'com.example.colour': 'blue',
  })
  if (release.key) team.server.send({ case: 'cancelDeployment', value: { release: release.key } })
  expect(await team.server.getOutcome(release)).toMatchObject({ cancelled: true })
})
