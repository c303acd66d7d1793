import { expect, test } from 'vitest'
import { sharedTurn } from './shared-turn.ts'

test('callers that wait share one run that starts after their call', async () => {
  const runs: PromiseWithResolvers<number>[] = []
  const turn = sharedTurn(() => {
    const run = Promise.withResolvers<number>()
    runs.push(run)
    return run.promise
  })
  const first = turn()
  await Promise.resolve()
  expect(runs).toHaveLength(1)
  const second = turn()
  const third = turn()
  runs[0]?.resolve(1)
  await expect(first).resolves.toBe(1)
  await new Promise((resolve) => setImmediate(resolve))
  expect(runs).toHaveLength(2)
  runs[1]?.resolve(2)
  await expect(Promise.all([second, third])).resolves.toEqual([2, 2])
})

test('a run that fails rejects only its own callers', async () => {
  let count = 0
  const turn = sharedTurn(async () => {
    count += 1
    if (count === 1) throw new Error('the first one')
    return count
  })
  const first = turn()
  await expect(first).rejects.toThrow('the first one')
  await expect(turn()).resolves.toBe(2)
})
