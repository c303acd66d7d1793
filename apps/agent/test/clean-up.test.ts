import { Phase, PhaseState, type Release, type ReleaseKey } from '@crux/agent-protocol'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startTestEnvironment, type TestEnvironment, waitUntil, webImage } from './kit/index.ts'

// A release is successful when the new containers have taken over. The containers that they replaced are removed after that.

let testEnvironment: TestEnvironment
let one: string
let two: string
beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
  one = (await testEnvironment.publish('web:1', webImage('one'))).reference
  two = (await testEnvironment.publish('web:2', webImage('two'))).reference
})
afterEach(() => testEnvironment.clear())
afterAll(() => testEnvironment.dispose())

/** Another container runs on the prefix's network, so the previous container continues for `drainMs`. */
const make = (web: string, drainMs: number) =>
  testEnvironment.release({
    drainMs,
    observationWindowMs: 100,
    instances: [
      { instanceId: 'web', image: web, config: { name: 'web' } },
      { instanceId: 'db', image: one, config: { name: 'db' } },
    ],
  })
const reported = (release: Release) =>
  testEnvironment.server.listEvents(release.key as ReleaseKey).map(({ event }) => event)
const cleanUpStates = (release: Release, instanceId: string) =>
  reported(release).flatMap((event) =>
    event.case === 'phase' && event.value.phase === Phase.CLEAN_UP && event.value.instanceId === instanceId
      ? [event.value.state]
      : [],
  )
const ids = async () => (await testEnvironment.docker.listContainers()).map(({ Id }) => Id)

test('a release is reported successful while the previous container still runs and ends when it is removed', async () => {
  await testEnvironment.server.deployAndWait(make(one, 0))
  const previous = (await testEnvironment.inspect('web')).Id
  const release = make(two, 3_000)
  testEnvironment.server.deploy(release)
  expect(await testEnvironment.server.waitForOutcome(release)).toMatchObject({ successful: true })
  expect(cleanUpStates(release, 'web')).toEqual([PhaseState.RUNNING])
  expect(cleanUpStates(release, 'db')).toEqual([PhaseState.SKIPPED])
  expect(await ids()).toContain(previous)
  expect(await testEnvironment.answer('web')).toBe('two')
  await testEnvironment.server.getOutcome(release)
  expect(await ids()).not.toContain(previous)
  expect(cleanUpStates(release, 'web')).toEqual([PhaseState.RUNNING, PhaseState.DONE])
  expect(reported(release).at(-1)?.case).toBe('cleanUpEnd')
})

test('the next release of the prefix reports what it waits for and starts when the previous containers are removed', async () => {
  await testEnvironment.server.deployAndWait(make(one, 0))
  const release = make(two, 2_000)
  testEnvironment.server.deploy(release)
  await testEnvironment.server.waitForOutcome(release)
  const next = make(one, 0)
  testEnvironment.server.deploy(next)
  expect(await testEnvironment.server.getOutcome(next)).toMatchObject({ successful: true })
  expect(testEnvironment.server.toLines(next)[0]).toBe(
    'waits until the release before it has removed the previous containers',
  )
  expect(reported(release).at(-1)?.case).toBe('cleanUpEnd')
  expect(await testEnvironment.answer('web')).toBe('one')
  expect(await testEnvironment.names()).toEqual([testEnvironment.name('db'), testEnvironment.name('web')])
})

test('an agent that restarts during a clean-up finishes it first in whichever order it finds the journals', async () => {
  await testEnvironment.server.deployAndWait(make(one, 0))
  const previous = (await testEnvironment.inspect('web')).Id
  const release = make(two, 3_000)
  release.key = { ...(release.key as ReleaseKey), deploymentId: 'z' }
  testEnvironment.server.deploy(release)
  await testEnvironment.server.waitForOutcome(release)
  const next = make(one, 0)
  next.key = { ...(next.key as ReleaseKey), deploymentId: 'a' }
  testEnvironment.server.deploy(next)
  await waitUntil('it waits', () => reported(next).length > 0)
  await testEnvironment.restartAgent()
  expect(await ids()).toContain(previous)
  expect(await testEnvironment.server.getOutcome(next)).toMatchObject({ successful: true })
  expect(reported(release).at(-1)?.case).toBe('cleanUpEnd')
  expect(reported(next).filter((event) => event.case === 'outcome')).toHaveLength(1)
  expect(await testEnvironment.answer('web')).toBe('one')
  expect(await testEnvironment.names()).toEqual([testEnvironment.name('db'), testEnvironment.name('web')])
})

test('a release that waits for a clean-up is cancelled at once and does not affect the clean-up', async () => {
  await testEnvironment.server.deployAndWait(make(one, 0))
  const release = make(two, 5_000)
  testEnvironment.server.deploy(release)
  await testEnvironment.server.waitForOutcome(release)
  const next = make(one, 0)
  testEnvironment.server.deploy(next)
  await waitUntil('it waits', () => reported(next).length > 0)
  testEnvironment.server.send({ case: 'cancelDeployment', value: { release: next.key } })
  expect(await testEnvironment.server.getOutcome(next)).toMatchObject({ cancelled: true, previousRestored: true })
  expect(reported(release).at(-1)?.case).not.toBe('cleanUpEnd')
  // A cancellation after the end has no effect: the release still removes what it replaced.
  testEnvironment.server.send({ case: 'cancelDeployment', value: { release: release.key } })
  expect(await testEnvironment.server.getOutcome(release)).toMatchObject({ successful: true, cancelled: false })
  expect(await testEnvironment.answer('web')).toBe('two')
  expect(await testEnvironment.names()).toEqual([testEnvironment.name('db'), testEnvironment.name('web')])
})
