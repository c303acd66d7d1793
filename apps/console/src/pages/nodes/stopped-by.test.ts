import type { Container } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { stoppedBy } from './stopped-by.ts'

const container: Container = {
  id: { prefix: 'shop', name: 'web' },
  command: '',
  createdAt: '2026-01-01T00:00:00.000Z',
  startedAt: '2026-01-01T10:00:00.000Z',
  state: 'exited',
  reason: '',
  exitCode: 137,
  imageName: 'web',
  imageTag: '1',
  ports: [],
  labels: {},
}
const command = (operation: string, at: string, id = { prefix: 'shop', name: 'web' }) => ({
  event: 'containerCommand' as const,
  createdAt: `2026-01-01T${at}:00.000Z`,
  data: { operation, container: id, user: { id: 'u', name: 'Ada' } },
})

describe('stoppedBy', () => {
  it('returns the user that stopped the container for each form of its name', () => {
    expect(stoppedBy(container, [command('stopContainer', '11:00')])).toBe('Ada')
    expect(stoppedBy(container, [command('stopContainer', '11:00', { prefix: '', name: 'shop-web' })])).toBe('Ada')
  })
  it('returns undefined for a container that runs, started later or got a later command', () => {
    expect(stoppedBy(container, [command('stopContainer', '09:00')])).toBeUndefined()
    expect(
      stoppedBy(container, [command('restartContainer', '12:00'), command('stopContainer', '11:00')]),
    ).toBeUndefined()
    expect(stoppedBy({ ...container, state: 'running' }, [command('stopContainer', '11:00')])).toBeUndefined()
  })
  it('returns undefined if another container was stopped', () => {
    expect(stoppedBy(container, [command('stopContainer', '11:00', { prefix: 'shop', name: 'web2' })])).toBeUndefined()
  })
})
