import type { ContainerConfigFields } from '@crux/contract'
import { type ConfigLayer, finalConfig, validateConfig } from '@crux/rules'
import { interleave, median, now, type Report } from './measure.ts'

const keys = 500
const callsPerRound = 20

/**
 * Merges four layers of a configuration with 500 keys each, of which every other one is in all of them, into the agent's configuration;
 * compared with the same keys in plain objects and `Object.assign`.
 */
export async function merge(report: Report, rounds: number): Promise<void> {
  const layers = Array.from({ length: 4 }, (_, layer) => toLayer(layer))
  const [image = {}, ...above] = layers
  const input = {
    image,
    layers: above.map((fields, index): ConfigLayer => ({ source: sources[index] ?? 'instance', name: 'l', fields })),
    imageName: 'app',
    versionName: '1.0.0',
  }
  const plain = layers.map((fields) =>
    Object.fromEntries((fields.environment ?? []).map((row) => [row.key, row.value])),
  )
  const assign = () => {
    const merged = Object.assign({}, ...plain)
    return Object.entries(merged).map(([key, value]) => ({ key, value }))
  }
  const { config, origins } = finalConfig(input)
  if (config.environment.length !== assign().length || origins().size < config.environment.length)
    throw new Error('both sides must come to the same keys')
  const time = (call: () => unknown) => async () => {
    const from = now()
    for (let index = 0; index < callsPerRound; index++) call()
    return (now() - from) / callsPerRound
  }
  // The first calls include compilation.
  await interleave(20, { ours: time(() => finalConfig(input).origins()), theirs: time(assign) })

  const merged = await interleave(rounds, { ours: time(() => finalConfig(input)), theirs: time(assign) })
  const detail = `median ${median(merged.ours).toFixed(2)} ms, ${config.environment.length} keys in the end`
  report.number('merge: 4 layers with 500 keys each', best(merged.ours), 'ms', '<= 2', detail)
  report.number('merge: beside Object.assign of plain objects', best(merged.ours) / best(merged.theirs), 'x')
  const traced = await interleave(rounds, { ours: time(() => finalConfig(input).origins()), theirs: time(assign) })
  report.number('merge: with the origin of every value', best(traced.ours), 'ms', '<= 4')
  const judged = await interleave(rounds, {
    ours: time(() => validateConfig(config, { whole: true })),
    theirs: time(assign),
  })
  report.number('merge: judging what came out', best(judged.ours), 'ms')
}

const sources = ['config-bundle', 'deployment', 'instance'] as const

/** The cost of the call while no other process uses the processor. */
const best = (values: readonly number[]) => Math.min(...values)

function toLayer(layer: number): ContainerConfigFields {
  return {
    environment: Array.from({ length: keys }, (_, index) => ({
      id: `0199f0e0-0000-7000-8000-${String(layer * keys + index).padStart(12, '0')}`,
      key: index % 2 === 0 ? `SHARED_${index}` : `LAYER_${layer}_${index}`,
      value: `value ${layer} ${index}`,
    })),
  }
}
