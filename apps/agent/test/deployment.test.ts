import { randomUUID } from 'node:crypto'
import type { Release } from '@crux/agent-protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { label } from '../src/plan/labels.ts'
import { webImage } from './kit/index.ts'
import { startWorld, type World } from './kit/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.dispose())

describe('a deployment', () => {
  test('pulls by digest, starts the containers and names them', async () => {
    const image = await world.publish('web:1', webImage('one'))
    await world.forget('web:1')
    const release = world.release({
      instances: [{ image: image.reference, config: { name: 'web', environment: [{ key: 'COLOUR', value: 'blue' }] } }],
    })
    const outcome = await world.server.deployAndWait(release)
    expect(outcome).toMatchObject({ successful: true, containerNames: [world.name('web')] })
    const container = await world.inspect('web')
    expect(container.State.Running).toBe(true)
    expect(container.Config.Image).toBe(image.reference)
    expect(container.Config.Env).toContain('COLOUR=blue')
    expect(container.Config.Labels).toMatchObject({
      [label.prefix]: world.owner.prefix,
      [label.name]: 'web',
      [label.release]: '1',
    })
    const events = world.server.eventsOf(
      release.key ?? { deploymentId: '', number: 0, $typeName: 'crux.agent.v1.ReleaseKey' },
    )
    expect(events.map(({ sequence }) => Number(sequence))).toEqual(events.map((_, index) => index + 1))
    expect(events.find(({ event }) => event.case === 'resolved')?.event.value).toMatchObject({ digest: image.digest })
    expect(events.some(({ event }) => event.case === 'progress' && event.value.status === 'Pull complete')).toBe(true)
  })
})

export type { Release }

void randomUUID
