import type { ContainerConfigFields } from '@crux/contract'
import type { Report } from './config-problem.ts'

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
export function checkLogOptions(logConfig: ContainerConfigFields['logConfig'], report: Report): void {
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
