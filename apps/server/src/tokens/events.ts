import type { App } from '../context.ts'
import { recordEvent } from '../system/business-events.ts'

/** After the commit: no server takes these tokens any more, this one from now on, and what they hold open is closed. */
export function tokensRevoked(app: Pick<App, 'log' | 'metrics' | 'bus'>, tokenIds: readonly string[]): void {
  if (tokenIds.length === 0) return
  recordEvent(app, { tokenIds }, 'tokens revoked')
  app.bus.publish({ type: 'tokens.revoked', tokenIds: [...tokenIds] })
}
