import { readFileSync } from 'node:fs'

declare const __CRUX_AGENT_VERSION__: string | undefined

/** The build writes it into the bundle; in the checkout it comes from package.json. */
export const version: string =
  typeof __CRUX_AGENT_VERSION__ === 'string'
    ? __CRUX_AGENT_VERSION__
    : String(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version)
