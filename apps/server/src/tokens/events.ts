import type { App } from '../context.ts'
import { recordEvent } from '../system/index.ts'

/** Call after the commit: all servers refuse these tokens, this one from now on, and close their open connections. */
export function tokensRevoked(app: Pick<App, 'log' | 'metrics' | 'bus'>, tokenIds: readonly string[]): void {
  if (tokenIds.length === 0) return
  recordEvent(app, { tokenIds }, 'tokens revoked')
  app.bus.publish({ type: 'tokens.revoked', tokenIds: [...tokenIds] })
}
