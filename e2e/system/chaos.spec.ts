import { expect, test } from '@playwright/test'
import { runChaos } from '../kit/chaos/chaos.ts'
import { startChaosSystem } from '../kit/chaos/chaos-system.ts'

const rounds = process.env.CRUX_TEST_FULL === '1' ? 10 : 1

test('random parts are killed under load and deployments: no acknowledged write is lost and nothing needs repair', async () => {
  test.setTimeout(rounds * 200_000 + 180_000)
  const seed = Number(process.env.CRUX_CHAOS_SEED ?? Date.now() % 1_000_000)
  const testSystem = await startChaosSystem()
  const report = await runChaos(testSystem, {
    seed,
    rounds,
    say: (line) => void process.stdout.write(`${line}\n`),
  }).finally(testSystem.end)
  expect(report.problems).toEqual([])
  expect(report.requests.acknowledged).toBeGreaterThan(10 * rounds)
})
