import type { Container } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import {
  containerAppearance,
  containerName,
  engineStatusText,
  isFailing,
  isForeign,
  isInternal,
  isReached,
  portText,
} from './containers.ts'
import { countPods, withPods } from './pods.ts'

const make = (rest: Partial<Container> = {}): Container => ({
  id: { prefix: '', name: 'shop-api' },
  managed: { prefix: 'shop', name: 'api' },
  command: '',
  createdAt: '2026-01-01T00:00:00Z',
  startedAt: '2026-01-01T00:00:01Z',
  state: 'running',
  reason: 'running',
  status: 'Up 4 minutes',
  imageName: 'api',
  imageTag: '1',
  ports: [],
  labels: {},
  ...rest,
})

describe('containers of a node', () => {
  it('names a container as the engine does', () => {
    expect(
      [
        { prefix: '', name: 'shop-api' },
        { prefix: 'shop', name: 'api' },
        { prefix: '', name: 'nginx' },
      ].map((id) => containerName(make({ id }))),
    ).toEqual(['shop-api', 'shop-api', 'nginx'])
  })

  it('treats a container that the server does not mark as managed as foreign', () => {
    expect([make(), make({ managed: null }), make({ managed: undefined })].map(isForeign)).toEqual([false, true, true])
  })

  it('hides only containers of the platform', () => {
    expect(isInternal(make({ labels: { 'dev.crux.service-category': '_internal' } }))).toBe(true)
    expect(isInternal(make({ labels: { 'org.dyrectorio.service-category': 'web' } }))).toBe(false)
  })

  it('considers a restart done when the container has started again', () => {
    const asked = { operation: 'restart', startedAt: '2026-01-01T00:00:01Z', askedAt: 0 } as const
    expect(isReached(asked, make())).toBe(false)
    expect(isReached(asked, make({ startedAt: '2026-01-01T00:09:00Z' }))).toBe(true)
    expect(isReached(asked, undefined)).toBe(true)
  })

  it('colours an unexpected exit, but not a finished job', () => {
    expect(isFailing(make({ state: 'exited', exitCode: 0 }))).toBe(false)
    expect(isFailing(make({ state: 'exited', exitCode: 137 }))).toBe(true)
    expect(containerAppearance(make({ state: 'exited', exitCode: 137 }))).toMatchObject({
      exitCode: 137,
      appearance: { tone: 'failed' },
    })
  })

  it('shows a workload of a cluster without wanted pods as stopped, and a job that failed without an exit code as failing', () => {
    const ending = { state: 'exited', reason: 'Terminating', ready: false, exitCode: 143, restartCount: 0 } as const
    const pod = { ...ending, name: 'web-1', machine: 'worker', createdAt: '2026-01-01T00:00:00Z' }
    for (const pods of [
      { total: 0, items: [] },
      { total: 1, items: [pod] },
    ])
      for (const exitCode of [undefined, 143]) {
        const stopped = make({ state: 'exited', status: 'Stopped', exitCode, pods })
        expect(isFailing(stopped)).toBe(false)
        expect(containerAppearance(stopped)).toMatchObject({ exitCode: null, appearance: { tone: 'idle' } })
        expect(engineStatusText(stopped)).toBe(null)
      }
    expect(isFailing(make({ pods: { total: 1, items: [pod] } }))).toBe(false)
    expect(isFailing(make({ pods: { total: 1, items: [{ ...pod, reason: 'Error' }] } }))).toBe(true)
    const late = make({ state: 'exited', status: 'DeadlineExceeded', pods: { total: 0, items: [] } })
    expect(isFailing(late)).toBe(true)
  })

  it('shows a workload of a cluster without pods as one, and no container of Docker', () => {
    const foreign = make({ managed: null })
    expect(withPods([make(), foreign], 'k8s')).toEqual([make({ pods: { total: 0, items: [] } }), foreign])
    expect(withPods([make()], 'docker')).toEqual([make()])
  })

  it('counts ready pods only where all are listed and shall be ready', () => {
    const pod = { name: 'web-1', state: 'running', reason: 'Running', ready: true, restartCount: 0 } as const
    const items = [{ ...pod, machine: 'worker', createdAt: '2026-01-01T00:00:00Z' }]
    const count = (total: number, state: Container['state'] = 'running') =>
      countPods({ state, pods: { total, items: items.slice(0, total) } })
    expect([count(1), count(125), count(0), count(1, 'exited')]).toEqual([
      { ready: 1, total: 1 },
      { total: 125 },
      { total: 0 },
      { total: 1 },
    ])
  })

  it('shows the status text of the engine only if it adds information', () => {
    const texts = ['Up 4 minutes', 'out of memory', '2 of 2 pods ready', '1 of 2 pods ready: Unschedulable']
    expect(texts.map((status) => engineStatusText(make({ status })))).toEqual([
      ...[null, 'out of memory'],
      ...[null, 'Unschedulable'],
    ])
  })

  it('formats ports with the published port first', () => {
    expect([
      portText({ internal: 80, external: 8080 }),
      portText({ internal: 53, external: 53, protocol: 'udp' }),
      portText({ internal: 9000 }),
    ]).toEqual(['8080 → 80', '53 → 53/udp', '9000'])
  })
})
