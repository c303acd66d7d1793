import { createLogger } from '@crux/service-kit'
import { expect, test } from 'vitest'
import { label, ownerLabels } from '../../labels.ts'
import type { Driver, ObservedContainer } from '../containers/container-engine.ts'
import type { Gate } from './gate.ts'
import { GateKeeper } from './keeper.ts'
import type { GatePort } from './relay/protocol.ts'

const owner = { teamId: 'team', projectId: 'project', nodeId: 'node', prefix: 'shop' }
const held: GatePort = {
  port: 80,
  address: '',
  container: 'new',
  target: '10.0.0.3',
  containerPort: 8080,
  proxy: '',
  prefix: 'shop',
}
const seen = (id: string, name: string) =>
  ({
    id,
    name,
    state: 'running',
    labels: { ...ownerLabels(owner), [label.name]: 'web' },
    gated: [{ hostPort: 80, protocol: 'tcp', address: '', containerPort: 8080 }],
    networks: [{ name: 'n', address: '10.0.0.3', aliases: [] }],
  }) as unknown as ObservedContainer

test('an observation from before the end of a release closes no port after it', async () => {
  let busy = true
  let names: Record<string, string> = { new: 'shop-web.next-1', old: 'shop-web.old-1' }
  const looked = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  const changes: unknown[] = []
  const engine = {
    observeAll: async () => Object.entries(names).map(([id, name]) => seen(id, name)),
    async observe(id: string) {
      const before = seen(id, names[id] ?? '')
      looked.resolve()
      await finish.promise
      return before
    },
  }
  const keeper = new GateKeeper({
    driver: { engine, subscribe: () => () => undefined } as unknown as Driver,
    gate: {
      readState: async () => ({ code: '', pid: 1, connections: 0, ports: [held] }),
      apply: async (...change: unknown[]) => void changes.push(change),
    } as unknown as Gate,
    scope: { covers: (labels) => labels[label.node] === 'node' },
    isBusy: () => busy,
    log: createLogger({ name: 'test', level: 'fatal' }),
  })
  const synced = keeper.sync()
  await looked.promise
  names = { new: 'shop-web' }
  busy = false
  keeper.released('shop')
  finish.resolve()
  await synced
  await keeper.sync()
  expect(changes).toEqual([])
  keeper.close()
})
