import { describe, expect, test } from 'vitest'
import { label, ownerLabels } from '../../labels.ts'
import type { ObservedContainer } from '../containers/container-engine.ts'
import { networkName } from '../containers/names.ts'
import { reconcile } from './reconcile.ts'
import type { GatePort } from './relay/protocol.ts'

const owner = { teamId: 'team', projectId: 'project', nodeId: 'node', prefix: 'shop' }

function makeContainer(more: Partial<ObservedContainer> = {}): ObservedContainer {
  return {
    id: 'web-1',
    name: 'shop-web',
    labels: { ...ownerLabels(owner), [label.name]: 'web' },
    imageId: '',
    state: 'running',
    exitCode: 0,
    outOfMemory: false,
    restartCount: 0,
    health: 'none',
    healthOutput: '',
    restartPolicy: { name: 'unless-stopped' },
    published: [],
    gated: [{ hostPort: 80, protocol: 'tcp', address: '', containerPort: 8080 }],
    hostNetwork: false,
    mounts: [],
    networks: [
      { name: 'other', address: '10.1.0.2', aliases: [] },
      { name: networkName(owner), address: '10.2.0.2', aliases: [] },
    ],
    ...more,
  }
}

const held: GatePort = {
  port: 80,
  address: '',
  container: 'web-1',
  target: '10.2.0.2',
  containerPort: 8080,
  proxy: '',
  prefix: 'shop',
}
const reconcileWith = (
  containers: ObservedContainer[],
  ports: GatePort[],
  more: { busy?: string[]; closeEnded?: boolean } = {},
) =>
  reconcile({
    containers,
    held: ports,
    scope: { covers: (labels) => ['node', 'deleted'].includes(labels[label.node] ?? '') },
    isBusy: (prefix) => more.busy?.includes(prefix) ?? false,
    closeEnded: more.closeEnded ?? true,
  })
const nothing = { open: [], close: [] }

describe('reconcile', () => {
  test('changes nothing where the gate matches the containers', () => {
    expect(reconcileWith([makeContainer()], [held])).toEqual(nothing)
  })

  test("opens the ports of a container of a deleted node by the address on that node's network", () => {
    const before = { ...owner, nodeId: 'deleted' }
    const networks = [{ name: networkName(before), address: '10.3.0.2', aliases: [] }]
    const left = makeContainer({ labels: { ...ownerLabels(before), [label.name]: 'web' }, networks })
    expect(reconcileWith([left], [])).toEqual({ open: [{ ...held, target: '10.3.0.2' }], close: [] })
    const live = makeContainer({ labels: { ...ownerLabels({ ...owner, nodeId: 'live' }), [label.name]: 'web' } })
    expect(reconcileWith([live], [])).toEqual(nothing)
  })

  test('opens missing ports by the address on the network of the prefix', () => {
    expect(reconcileWith([makeContainer()], [])).toEqual({ open: [held], close: [] })
  })

  test('follows a container that has another address', () => {
    expect(reconcileWith([makeContainer()], [{ ...held, target: '10.2.0.9' }]).open).toEqual([held])
  })

  test('lets clients wait for a container that just ended and then releases the port', () => {
    const ended = makeContainer({ state: 'exited' })
    expect(reconcileWith([ended], [held], { closeEnded: false })).toEqual({
      open: [{ ...held, target: '' }],
      close: [],
    })
    expect(reconcileWith([ended], [held])).toEqual({ open: [], close: [{ port: 80, address: '' }] })
  })

  test('lets clients wait while the engine restarts a container again and again', () => {
    expect(reconcileWith([makeContainer({ state: 'restarting' })], [held]).open).toEqual([{ ...held, target: '' }])
  })

  test('closes the port of a container that was removed', () => {
    expect(reconcileWith([], [held])).toEqual({ open: [], close: [{ port: 80, address: '' }] })
  })

  test.each([
    ['of a prefix with a release in progress', [makeContainer()], [], ['shop']],
    ['of a prefix whose container is gone, with a release in progress', [], [held], ['shop']],
    ['of another node', [makeContainer({ labels: ownerLabels({ ...owner, nodeId: 'other' }) })], [], []],
    ['of a container that is being replaced', [makeContainer({ name: 'shop-web.old-12345678' })], [], []],
    ['of one that is not in its place yet', [makeContainer({ name: 'shop-web.next-12345678' })], [], []],
  ] as const)('does not change the port %s', (_, containers, ports, busy) => {
    expect(reconcileWith([...containers], [...ports], { busy: [...busy] })).toEqual(nothing)
  })
})
