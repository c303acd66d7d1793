import { logDrivers } from '@crux/contract'
import type { ServiceContext } from './service-context.ts'
import { toComposeRecord, toPairs, toText } from './values.ts'

/** Converts `logging`. */
export function convertLogging(context: ServiceContext): void {
  const logging = toComposeRecord(context.get('logging'))
  const given = toText(logging.driver)
  const options = toPairs(logging.options).flatMap(({ key, value, at }) =>
    value === null ? [] : [{ row: { key, value }, at }],
  )
  if (!given) {
    if (options.length > 0)
      context.omit(
        ['logging', 'options'],
        'Options need a driver, such as json-file. Without one the node logs as it is set up',
      )
    return
  }
  const driver = logDrivers.find((known) => known === given)
  if (!driver) {
    context.omit(['logging'], `Crux does not know the log driver ${given}. It knows ${logDrivers.slice(1).join(', ')}`)
    return
  }
  const rows = options.map(({ row }) => row)
  context.set('logConfig', { driver, ...(rows.length > 0 && { options: rows }) }, ['logging'])
  for (const [index, { at }] of options.entries())
    context.origins.set(`logConfig.options[${index}]`, ['logging', 'options', at])
}
