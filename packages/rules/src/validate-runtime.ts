import type { ContainerConfigFields, NodeType } from '@crux/contract'
import type { Report } from './config-problem.ts'
import { checkLogOptions } from './log-options.ts'
import { bytesOfQuantity, millisOfCores } from './quantity.ts'

/** Checks the runtime settings of the process: directory, resources, limits, log. */
export function checkRuntime(config: ContainerConfigFields, nodeType: NodeType | undefined, report: Report): void {
  if (config.workingDirectory && !config.workingDirectory.startsWith('/'))
    report('workingDirectory', 'matches', 'The working directory is an absolute path')
  if (config.shmSize && !bytesOfQuantity(config.shmSize)) report('shmSize', 'min', 'A size is more than nothing: 64Mi')
  // fs.nr_open is always a number, and no process can exceed it.
  for (const [index, { key, hard }] of (config.ulimits ?? []).entries())
    if (key === 'nofile' && hard === -1)
      report(`ulimits[${index}].hard`, 'max', 'Open files have a limit in every kernel: 1048576 is usual')
  checkResources(config, nodeType, report)
  checkLogOptions(config.logConfig, report)
}

/** The minimum values are those of Docker: 6 MiB and a hundredth of a core. */
const measures = {
  cpu: { read: millisOfCores, example: '0.5 or 500m', dockerMinimum: 10, minimumText: '10m' },
  memory: { read: bytesOfQuantity, example: '512Mi or 1G', dockerMinimum: 6 * 1024 ** 2, minimumText: '6Mi' },
} as const

function checkResources(config: ContainerConfigFields, nodeType: NodeType | undefined, report: Report): void {
  for (const measure of ['cpu', 'memory'] as const) {
    const { read, example, dockerMinimum, minimumText } = measures[measure]
    const amount = (side: 'limits' | 'requests') => {
      const text = config.resourceConfig?.[side]?.[measure]
      if (!text) return undefined
      const value = read(text)
      const property = `resourceConfig.${side}.${measure}`
      if (!value) report(property, 'min', `It is more than nothing: ${example}`)
      else if (nodeType === 'docker' && value < dockerMinimum && (side === 'limits' || measure === 'memory'))
        report(property, 'min', `Docker takes no less than ${minimumText}`)
      return value
    }
    const limit = amount('limits')
    const request = amount('requests')
    if (limit && request && request > limit)
      report(`resourceConfig.requests.${measure}`, 'max', 'More is requested than the limit allows: lower it')
  }
}
