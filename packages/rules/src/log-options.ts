import type { ContainerConfigFields } from '@crux/contract'
import { type ConfigProblem, problem } from './config-problem.ts'

const about = ['labels', 'labels-regex', 'env', 'env-regex']
const described = [...about, 'tag']
const files = ['max-size', 'max-file', 'compress']
/** Options that Docker takes for each driver (docs.docker.com/engine/logging/drivers); it refuses a container with any other. */
const driverOptions: Readonly<Record<string, readonly string[]>> = {
  local: files,
  'json-file': [...files, ...described],
  syslog: [
    ...described,
    ...'address facility tls-ca-cert tls-cert tls-key tls-skip-verify format'
      .split(' ')
      .map((name) => `syslog-${name}`),
  ],
  journald: described,
  gelf: [
    ...described,
    ...'address compression-level compression-type'.split(' ').map((name) => `gelf-${name}`),
    'gelf-tcp-max-reconnect',
    'gelf-tcp-reconnect-delay',
  ],
  fluentd: [
    ...described,
    ...'address async async-connect async-reconnect-interval buffer-limit retry-wait max-retries request-ack sub-second-precision'
      .split(' ')
      .map((name) => `fluentd-${name}`),
    'fluentd-read-timeout',
    'fluentd-write-timeout',
  ],
  awslogs: [
    'tag',
    ...'group stream create-group create-stream region endpoint datetime-format multiline-pattern credentials-endpoint format'
      .split(' ')
      .map((name) => `awslogs-${name}`),
    'awslogs-force-flush-interval-seconds',
    'awslogs-max-buffered-events',
  ],
  splunk: [
    ...described,
    ...'url token source sourcetype index capath caname insecureskipverify format verify-connection gzip gzip-level'
      .split(' ')
      .map((name) => `splunk-${name}`),
    'splunk-index-acknowledgment',
  ],
  gcplogs: [...about, ...'project log-cmd meta-zone meta-name meta-id'.split(' ').map((name) => `gcp-${name}`)],
  logentries: [...described, 'logentries-token', 'line-only'],
}
/** For every driver. */
const common = ['mode', 'max-buffer-size', 'cache-disabled', 'cache-max-size', 'cache-max-file', 'cache-compress']

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

/** What the engine would refuse at the creation of the container: after the pull, and in worse words. */
export function logOptionProblems(logConfig: ContainerConfigFields['logConfig']): ConfigProblem[] {
  const options = logConfig?.options ?? []
  const driver = logConfig?.driver ?? 'nodeDefault'
  const known = Object.hasOwn(driverOptions, driver) ? driverOptions[driver] : undefined
  if (!known) return []
  const given = new Map(options.map(({ key, value }) => [key, value]))
  return options.flatMap(({ key, value }, index) => {
    const at = `logConfig.options[${index}]`
    if (!known.includes(key) && !common.includes(key))
      return [problem(`${at}.key`, 'oneOf', `${driver} has no option ${key}: ${known.join(', ')}`)]
    const rule = Object.hasOwn(values, key) ? values[key] : undefined
    if (rule && !rule.form.test(value.trim())) return [problem(`${at}.value`, 'matches', rule.words)]
    if (key === 'max-buffer-size' && given.get('mode') !== 'non-blocking')
      return [problem(`${at}.key`, 'oneOf', 'Only the mode non-blocking has a buffer: set mode, or leave this out')]
    if (key === 'compress' && /^(1|t)/i.test(value) && !rotates(driver, given))
      return [
        problem(
          `${at}.value`,
          'oneOf',
          'Only files that are rotated out are compressed: set max-size, and max-file from 2',
        ),
      ]
    return []
  })
}

/** json-file rotates only when it is told to; local does by itself. */
const rotates = (driver: string, given: ReadonlyMap<string, string>) =>
  driver === 'local'
    ? Number(given.get('max-file') ?? 5) > 1
    : given.has('max-size') && Number(given.get('max-file') ?? 1) > 1
