import type { DeploymentEvent, Phase, PhaseState, Release } from '@crux/agent-protocol'
import { expect } from 'vitest'
import type { TestEnvironment } from './test-environment.ts'

/** The events that the server has of a release. */
export const listEvents = ({ server }: TestEnvironment, { key }: Release): readonly DeploymentEvent[] =>
  key ? server.listEvents(key) : []

/** The states of one phase, of all instances, in the order of their events. */
export const listPhases = (testEnvironment: TestEnvironment, release: Release, phase: Phase): PhaseState[] =>
  listEvents(testEnvironment, release).flatMap(({ event }) =>
    event.case === 'phase' && event.value.phase === phase ? [event.value.state] : [],
  )

/** Deploys a release that must be successful. */
export async function deploySuccessfully({ server }: TestEnvironment, release: Release) {
  const outcome = await server.deployAndWait(release)
  expect(outcome).toMatchObject({ successful: true, reason: '' })
  return outcome
}

/** Checks that the container `web` with this id runs under its name, untouched or started again, and that nothing else is left. */
export async function expectUnchanged(testEnvironment: TestEnvironment, id: string): Promise<void> {
  const info = await testEnvironment.inspect('web')
  expect(info.Id).toBe(id)
  expect(info.State.Running).toBe(true)
  expect(info.HostConfig.RestartPolicy?.Name).toBe('unless-stopped')
  expect(await testEnvironment.names()).toEqual([testEnvironment.name('web')])
  expect(await testEnvironment.answer('web')).toBe('old')
}
