import type { App } from '../context.ts'
import { recordEvent } from '../system/index.ts'

/** Call after the commit: all servers refuse these tokens, this one from now on, and close their open connections. */
export function tokensRevoked(app: Pick<App, 'log' | 'metrics' | 'bus'>, tokens: readonly { id: string }[]): void {
  if (tokens.length === 0) return
  const tokenIds = tokens.map(({ id }) => id)
  recordEvent(app, { tokenIds }, 'tokens revoked')
  app.bus.publish({ type: 'tokens.revoked', tokenIds })
}
