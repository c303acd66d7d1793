import type { ContainerConfigFields, NodeType } from '@crux/contract'
import type { Report } from './config-problem.ts'
import { checkHealthTest } from './health-check.ts'
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
  checkHealthTest(config.healthCheckConfig, report)
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

const truth = { form: /^(1|t|true|0|f|false)$/i, words: 'Write true or false' }
const size = { form: /^[1-9]\d*\s?([kmgtp]i?)?b?$/i, words: 'Write a size such as 10m' }
const count = { form: /^[1-9]\d{0,4}$/, words: 'Write a number from 1' }
const values: Readonly<Record<string, { form: RegExp; words: string }>> = {
  'max-size': size,
  'cache-max-size': size,
  'max-buffer-size': size,
  'max-file': count,
  'cache-max-file': count,
  compress: truth,
  'cache-disabled': truth,
  'cache-compress': truth,
  mode: { form: /^(blocking|non-blocking)$/, words: 'Write blocking or non-blocking' },
}

/**
 * Reports what the engine would refuse when it creates the container, for options that every driver has. Names are free text, because drivers
 * get new options and the engine's own error about an unknown one is clear.
 */
function checkLogOptions(logConfig: ContainerConfigFields['logConfig'], report: Report): void {
  const options = logConfig?.options ?? []
  const driver = logConfig?.driver ?? 'nodeDefault'
  if (driver === 'nodeDefault' || driver === 'none') return
  const given = new Map(options.map(({ key, value }) => [key, value]))
  for (const [index, { key, value }] of options.entries()) {
    const at = `logConfig.options[${index}]`
    const rule = Object.hasOwn(values, key) ? values[key] : undefined
    if (rule && !rule.form.test(value.trim())) report(`${at}.value`, 'matches', rule.words)
    else if (key === 'max-buffer-size' && given.get('mode') !== 'non-blocking')
      report(`${at}.key`, 'oneOf', 'Only the mode non-blocking has a buffer: set mode, or leave this out')
    else if (key === 'compress' && /^(1|t)/i.test(value) && !rotates(driver, given))
      report(
        `${at}.value`,
        'oneOf',
        'Only files that are rotated out are compressed: set max-size, and max-file from 2',
      )
  }
}

/** json-file rotates only when it is configured to; local always rotates. */
const rotates = (driver: string, given: ReadonlyMap<string, string>) =>
  driver === 'local'
    ? Number(given.get('max-file') ?? 5) > 1
    : given.has('max-size') && Number(given.get('max-file') ?? 1) > 1
