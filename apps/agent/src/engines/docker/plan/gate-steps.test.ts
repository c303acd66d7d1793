import { describe, expect, test } from 'vitest'
import type { GatedPort, ObservedContainer } from '../containers/container-engine.ts'
import type { DesiredInstance } from './container-spec.ts'
import { gateSteps } from './gate-steps.ts'
import type { Mode } from './steps.ts'

const gated = (hostPort: number, address = ''): GatedPort => ({
  hostPort,
  protocol: 'tcp',
  address,
  containerPort: 8080,
})

type Next = { gated?: GatedPort[]; published?: GatedPort[]; mode?: Mode; previous?: ReturnType<typeof makeOld> }
const makeOld = (name: string, more: Partial<Pick<ObservedContainer, 'gated' | 'published' | 'state'>> = {}) => ({
  id: `old-${name}`,
  name,
  labels: {},
  gated: [],
  published: [],
  state: 'running' as const,
  ...more,
})
function getSteps(next: Record<string, Next>, orphans: ReturnType<typeof makeOld>[] = []) {
  const changing = Object.entries(next).map(([instanceId, { gated: ports = [], published = [], mode, previous }]) => ({
    instance: {
      instanceId,
      base: { gated: ports, published },
      config: { portGate: { enabled: ports.length > 0, drainSeconds: 7 } },
    } as unknown as DesiredInstance,
    mode: mode ?? (previous ? 'beside' : 'first'),
    previous: previous as ObservedContainer | undefined,
  }))
  return gateSteps({
    changing,
    orphans: orphans as ObservedContainer[],
    stopped: new Set(changing.flatMap(({ mode, previous }) => (mode === 'after' && previous ? [previous.id] : []))),
  })
}
const kinds = (steps: readonly { kind: string }[] | undefined) => (steps ?? []).map(({ kind }) => kind)

describe('gateSteps', () => {
  test('holds the port of a first container before everything else and routes it when the container is verified', () => {
    const steps = getSteps({ web: { gated: [gated(80)] } })
    expect(steps.prepare).toMatchObject([{ kind: 'gate.reserve', ports: [{ hostPort: 80 }] }])
    expect(kinds(steps.verified.get('web'))).toEqual(['gate.wait', 'gate.route'])
    expect([steps.handover, steps.cleanUp, steps.undo.first, steps.undo.last]).toEqual([[], [], [], []])
    expect(steps.undo.beforeRestore).toMatchObject([{ kind: 'gate.release', ports: [{ hostPort: 80 }] }])
  })

  test('routes a replaced port together with all others of the release and drains the old container', () => {
    const steps = getSteps({ web: { gated: [gated(80)], previous: makeOld('web', { gated: [gated(80)] }) } })
    expect(steps.verified.get('web')).toMatchObject([{ kind: 'gate.wait', previous: { id: 'old-web' } }])
    expect(steps.handover).toMatchObject([{ kind: 'gate.route', target: { kind: 'new' }, instead: [] }])
    expect(steps.cleanUp).toMatchObject([{ kind: 'gate.drain', previousContainers: [{ id: 'old-web', ms: 7_000 }] }])
    expect(steps.undo.first).toMatchObject([{ kind: 'gate.route', target: { kind: 'previous', id: 'old-web' } }])
    expect(steps.undo.beforeRestore).toEqual([])
  })

  test('lets the clients of a service that must stop wait before the stop and restores its route last of all', () => {
    const previous = makeOld('web', { gated: [gated(80)] })
    const steps = getSteps({ web: { gated: [gated(80)], mode: 'after', previous } })
    expect(kinds(steps.beforeStop.get('old-web'))).toEqual(['gate.suspend'])
    expect(kinds(steps.verified.get('web'))).toEqual(['gate.wait', 'gate.route'])
    expect([steps.handover, steps.cleanUp, steps.undo.first]).toEqual([[], [], []])
    expect(steps.undo.last).toMatchObject([{ target: { id: 'old-web' } }])
  })

  test('takes a port from the engine right after the stop and releases one to it right before the start', () => {
    const on = getSteps({
      web: { gated: [gated(80)], mode: 'after', previous: makeOld('web', { published: [gated(80)] }) },
    })
    expect(on.prepare).toEqual([])
    expect(kinds(on.beforeStart.get('web'))).toEqual(['gate.reserve'])
    const off = getSteps({
      web: { published: [gated(80)], mode: 'after', previous: makeOld('web', { gated: [gated(80)] }) },
    })
    expect(kinds(off.beforeStart.get('web'))).toEqual(['gate.release'])
    expect(off.beforeStop.size).toBe(0)
    expect(off.undo.last).toMatchObject([{ kind: 'gate.route', target: { id: 'old-web' } }])
  })

  test('exchanges the ports of two services without stopping either', () => {
    const steps = getSteps({
      a: { gated: [gated(81)], previous: makeOld('a', { gated: [gated(80)] }) },
      b: { gated: [gated(80)], previous: makeOld('b', { gated: [gated(81)] }) },
    })
    expect(kinds(steps.handover)).toEqual(['gate.route', 'gate.route'])
    expect(steps.undo.first).toMatchObject([
      { target: { id: 'old-a' }, ports: [{ hostPort: 80 }] },
      { target: { id: 'old-b' }, ports: [{ hostPort: 81 }] },
    ])
  })

  test('releases a port for other addresses only when it is routed to the new container and unused ports at the end', () => {
    const steps = getSteps(
      { web: { gated: [gated(80, '127.0.0.1')], previous: makeOld('web', { gated: [gated(80), gated(90)] }) } },
      [makeOld('gone', { gated: [gated(70)] })],
    )
    expect(steps.prepare).toEqual([])
    expect(steps.handover).toMatchObject([
      { kind: 'gate.route', instead: [{ hostPort: 80, address: '' }] },
      { kind: 'gate.release', ports: [{ hostPort: 90 }, { hostPort: 70 }] },
    ])
    expect(steps.undo.first).toMatchObject([{ instead: [{ hostPort: 80, address: '127.0.0.1' }] }, {}])
  })
})
