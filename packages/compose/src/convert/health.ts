import type { ContainerConfigFields } from '@crux/contract'
import type { ComposePath } from '../model.ts'
import { toArguments } from './process.ts'
import type { ServiceContext } from './service-context.ts'
import { parseDuration } from './units.ts'
import { type ComposeRecord, isComposeRecord, toBoolean, toList, toNumber, toText } from './values.ts'

type Health = NonNullable<ContainerConfigFields['healthCheckConfig']>

/** Converts `healthcheck`: its test as a shell line or as a program, or none at all. */
export function convertHealthCheck(context: ServiceContext): void {
  const given = context.get('healthcheck')
  if (!isComposeRecord(given)) return
  const path = ['healthcheck']
  const test = readTest(context, given, [...path, 'test'])
  if (test?.test === 'none') {
    context.set('healthCheckConfig', test, path)
    return
  }
  const health: Health = { ...test, ...readTimes(context, given, path) }
  if (Object.keys(health).length > 0) context.set('healthCheckConfig', health, path)
}

function readTest(context: ServiceContext, given: ComposeRecord, path: ComposePath): Health | undefined {
  if (toBoolean(given.disable) === true) return { test: 'none' }
  const { test } = given
  if (test === undefined || test === null) return undefined
  if (!Array.isArray(test)) return toShellTest(toText(test) ?? '')
  const [kind, ...rest] = toList(test).map((item) => toText(item) ?? '')
  if (kind === undefined) return undefined
  if (kind === 'NONE') return { test: 'none' }
  if (kind === 'CMD-SHELL') {
    if (rest.length === 1) return toShellTest(rest[0] ?? '')
    context.error(path, 'CMD-SHELL takes one text, the line for the shell')
    return undefined
  }
  if (kind === 'CMD' && rest.length > 0) {
    const rows = toArguments(context, rest, (index) => [...path, index + 1])
    return rows && { test: 'exec', arguments: rows.map(({ row }) => row) }
  }
  context.error(path, 'A list begins with CMD and a program, CMD-SHELL and a line, or is NONE')
  return undefined
}

/** An empty test is that of the image. */
const toShellTest = (command: string): Health | undefined => (command.trim() === '' ? undefined : { command })

const times = [
  ['interval', 'intervalSeconds'],
  ['timeout', 'timeoutSeconds'],
  ['start_period', 'startPeriodSeconds'],
] as const

function readTimes(context: ServiceContext, given: ComposeRecord, path: ComposePath): Health {
  const health: Health = {}
  for (const [key, field] of times) {
    const text = toText(given[key])
    if (text === undefined) continue
    const seconds = parseDuration(text)
    if (seconds === undefined) context.error([...path, key], `"${text}" is not a duration: write it like 30s or 1m30s`)
    // Zero is the default of the engine, or that of the image.
    else if (seconds > 0) health[field] = Math.ceil(seconds)
    if (seconds !== undefined && !Number.isInteger(seconds))
      context.omit([...path, key], `Crux counts whole seconds: it becomes ${Math.ceil(seconds)} s`)
    context.origins.set(`healthCheckConfig.${field}`, [...path, key])
  }
  const retries = toNumber(given.retries)
  if (retries !== undefined && retries !== 0) health.retries = retries
  else if (retries === undefined && given.retries !== undefined && given.retries !== null)
    context.error([...path, 'retries'], `"${toText(given.retries) ?? ''}" is not a number`)
  context.origins.set('healthCheckConfig.retries', [...path, 'retries'])
  context.origins.set('healthCheckConfig.command', [...path, 'test'])
  context.origins.set('healthCheckConfig.arguments', [...path, 'test'])
  return health
}
