import { isIP } from 'node:net'
import type { App } from '../../context.ts'

/** Who browsers prove something to: the console's host, from any of its own pages. */
export interface RelyingParty {
  id: string
  name: string
  origins: string[]
}

/** Undefined where the console's address is no name: browsers then know no security keys for it. */
export function relyingParty(app: App): RelyingParty | undefined {
  const { hostname } = new URL(app.consoleUrl)
  if (isIP(hostname.replace(/^\[|\]$/g, ''))) return undefined
  const origins = [...app.acceptedOrigins].filter((origin) => new URL(origin).hostname === hostname)
  return { id: hostname, name: 'Crux', origins }
}

export function offersPasskeys(app: App): boolean {
  return relyingParty(app) !== undefined
}
