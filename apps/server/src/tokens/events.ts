import type { App } from '../context.ts'

/** A bus that is away must not hold an answer up: without it, tokens are remembered for 2 s. */
const hearMs = 1_000

/**
 * After the commit: no server takes these tokens any more, and what they hold open is closed. Resolves when this process has heard
 * it itself, so that whoever got the answer to a revocation finds the token refused.
 */
export async function tokensRevoked(app: Pick<App, 'log' | 'bus'>, tokenIds: readonly string[]): Promise<void> {
  const [first] = tokenIds
  if (first === undefined) return
  app.log.info({ tokenIds }, 'tokens revoked')
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer)
      unsubscribe()
      resolve()
    }
    const timer = setTimeout(done, hearMs)
    const unsubscribe = app.bus.on('tokens.revoked', (heard) => heard.tokenIds.includes(first) && done())
    app.bus.publish({ type: 'tokens.revoked', tokenIds: [...tokenIds] })
  })
}
