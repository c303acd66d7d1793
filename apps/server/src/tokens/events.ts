import type { App } from '../context.ts'

/** After the commit: no server takes these tokens any more, this one from now on, and what they hold open is closed. */
export function tokensRevoked(app: Pick<App, 'log' | 'bus'>, tokenIds: readonly string[]): void {
  if (tokenIds.length === 0) return
  app.log.info({ tokenIds }, 'tokens revoked')
  app.bus.publish({ type: 'tokens.revoked', tokenIds: [...tokenIds] })
}
