import type { ContainerConfigFields, NodeType } from '@crux/contract'
import { type ConfigProblem, problem } from './config-problem.ts'
import { logOptionProblems } from './log-options.ts'
import { bytesOfQuantity, millisOfCores } from './quantity.ts'

/** Checks the runtime settings of the process: directory, resources, limits, log. */
export function runtimeProblems(
  config: ContainerConfigFields,
  { nodeType }: { nodeType?: NodeType | undefined },
): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  if (config.workingDirectory && !config.workingDirectory.startsWith('/'))
    problems.push(problem('workingDirectory', 'matches', 'The working directory is an absolute path'))
  if (config.shmSize && !bytesOfQuantity(config.shmSize))
    problems.push(problem('shmSize', 'min', 'A size is more than nothing: 64Mi'))
  config.ulimits?.forEach(({ key, hard }, index) => {
    // fs.nr_open is always a number, and no process can exceed it.
    if (key === 'nofile' && hard === -1)
      problems.push(
        problem(`ulimits[${index}].hard`, 'max', 'Open files have a limit in every kernel: 1048576 is usual'),
      )
  })
  return [...problems, ...resourceProblems(config, nodeType), ...logOptionProblems(config.logConfig)]
}

const measures = {
  cpu: { read: millisOfCores, example: '0.5 or 500m' },
  memory: { read: bytesOfQuantity, example: '512Mi or 1G' },
} as const
/** The minimum values of Docker: 6 MiB and a hundredth of a core. */
const dockerMinimum = { memory: 6 * 1024 ** 2, cpu: 10 }
const minimumWords = { memory: '6Mi', cpu: '10m' }

function resourceProblems(config: ContainerConfigFields, nodeType: NodeType | undefined): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  for (const measure of ['cpu', 'memory'] as const) {
    const { read, example } = measures[measure]
    const amount = (side: 'limits' | 'requests') => {
      const text = config.resourceConfig?.[side]?.[measure]
      if (!text) return undefined
      const value = read(text)
      const property = `resourceConfig.${side}.${measure}`
      if (!value) problems.push(problem(property, 'min', `It is more than nothing: ${example}`))
      else if (nodeType === 'docker' && value < dockerMinimum[measure] && (side === 'limits' || measure === 'memory'))
        problems.push(problem(property, 'min', `Docker takes no less than ${minimumWords[measure]}`))
      return value
    }
    const limit = amount('limits')
    const request = amount('requests')
    if (limit && request && request > limit)
      problems.push(
        problem(`resourceConfig.requests.${measure}`, 'max', 'More is requested than the limit allows: lower it'),
      )
  }
  return problems
}
