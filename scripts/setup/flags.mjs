import { parseArgs } from 'node:util'
import { fail } from './install.mjs'

/** Parses flags strictly: an unknown one ends the process with the usage. */
export function readFlags(options, usage) {
  try {
    const { values } = parseArgs({
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: false,
    })
    if (values.help) {
      console.log(usage)
      process.exit(0)
    }
    return values
  } catch (error) {
    return fail(`${error.message.split('. ')[0]}.\n\n${usage}`)
  }
}
