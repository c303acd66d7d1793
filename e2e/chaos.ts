import { parseArgs } from 'node:util'
import { runChaos } from './kit/chaos/chaos.ts'
import { startChaosSystem } from './kit/chaos/chaos-system.ts'

// `npm run chaos -- --rounds N`; CRUX_CHAOS_SEED repeats the choices of an earlier run.
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '10' } } })
const rounds = Number(values.rounds)
const seed = Number(process.env.CRUX_CHAOS_SEED ?? Date.now() % 1_000_000)
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seed)) {
  process.stderr.write('usage: npm run chaos -- [--rounds N], with CRUX_CHAOS_SEED as a whole number\n')
  process.exit(2)
}
const say = (line: string) => void process.stdout.write(`${line}\n`)
say(`seed ${seed}`)
const testSystem = await startChaosSystem()
try {
  const { problems, kills } = await runChaos(testSystem, { seed, rounds, say })
  say(
    `kills: ${Object.entries(kills)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}`,
  )
  for (const problem of problems) say(`! ${problem}`)
  process.exitCode = problems.length === 0 ? 0 : 1
} finally {
  await testSystem.end()
}
