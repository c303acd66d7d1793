import { describe, expect, test } from 'vitest'
import { EngineError } from '../../../errors.ts'
import type { ObjectKind } from './cluster.ts'
import { listServed } from './list-served.ts'

const isMissing = new EngineError('not-found', 'The cluster does not know it')
const isRefused = new EngineError('refused', 'The agent has no right')

const toCluster = (isServed: boolean, error: EngineError) => {
  const listed: ObjectKind[] = []
  return {
    listed,
    serves: async () => isServed,
    list: async (kind: ObjectKind) => {
      listed.push(kind)
      throw error
    },
  }
}

describe('objects of a kind that not every cluster knows', () => {
  test('are not asked for where the cluster does not name the kind', async () => {
    const cluster = toCluster(false, isMissing)
    expect(await listServed(cluster, 'ServiceMonitor', {})).toEqual([])
    expect(cluster.listed).toEqual([])
  })

  test('are none where the kind was removed since the cluster named it', async () => {
    const cluster = toCluster(true, isMissing)
    expect(await listServed(cluster, 'ServiceMonitor', {})).toEqual([])
    expect(cluster.listed).toEqual(['ServiceMonitor'])
  })

  test('fail with a missing right, and those that every cluster knows also when they are not found', async () => {
    await expect(listServed(toCluster(true, isRefused), 'ServiceMonitor', {})).rejects.toBe(isRefused)
    await expect(listServed(toCluster(true, isMissing), 'Service', {})).rejects.toBe(isMissing)
  })
})
