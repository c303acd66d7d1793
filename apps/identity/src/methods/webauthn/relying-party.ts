import { isIP } from 'node:net'
import type { App } from '../../app/app.ts'

/** The relying party of WebAuthn: the host of the console, from any of its pages. */
export interface RelyingParty {
  id: string
  name: string
  origins: string[]
}

/** Undefined where the host of the console is an IP address, because browsers then support no WebAuthn. */
export function relyingParty(app: App): RelyingParty | undefined {
  const { hostname } = new URL(app.consoleUrl)
  if (isIP(hostname.replace(/^\[|\]$/g, ''))) return undefined
  const origins = [...app.acceptedOrigins].filter((origin) => new URL(origin).hostname === hostname)
  return { id: hostname, name: 'Crux', origins }
}
