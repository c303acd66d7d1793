import { expect, test } from 'vitest'
import { toRolloutStages } from './rollout-order.ts'

const workload = (instanceId: string, holdsBack = false) => ({ instanceId, holdsBack })

test('workloads start together, in the order of the version, until one must be verified first', () => {
  expect(toRolloutStages([workload('a'), workload('db', true), workload('b'), workload('c')])).toEqual([
    ['a', 'db'],
    ['b', 'c'],
  ])
})

test('a workload that must be verified and is the last leaves no empty stage', () => {
  expect(toRolloutStages([workload('db', true)])).toEqual([['db']])
  expect(toRolloutStages([])).toEqual([])
})
