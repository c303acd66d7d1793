import type { DeploymentStatus } from '@crux/contract'
import type { App } from '../context.ts'
import { selectStatus } from './store.ts'

/** The bus delivers at most once, so that the end is also polled at this interval. */
const pollIntervalMs = 3_000

export type Ended = { status: DeploymentStatus; reason: string | null; ended: boolean }

/**
 * Waits for the end of a release, at most `seconds`, or until the caller has disconnected.
 *
 * @returns the status at that time; `ended` is false while it continues
 */
export async function waitForRelease(
  app: App,
  release: { deploymentId: string; number: number },
  options: { seconds: number; onGone: (fn: () => void) => void },
): Promise<Ended> {
  const deadline = Date.now() + options.seconds * 1_000
  let gone = false
  let wake = () => {}
  const unsubscribe = app.bus.on('deployment.changed', ({ deploymentId }) => {
    if (deploymentId === release.deploymentId) wake()
  })
  options.onGone(() => {
    gone = true
    wake()
  })
  try {
    for (;;) {
      // Set by events during the read, so that none is lost between the read and the wait.
      let heard = false
      wake = () => {
        heard = true
      }
      const now = await getStatus(app, release)
      const leftMs = deadline - Date.now()
      if (now.ended || leftMs <= 0 || gone) return now
      if (heard) continue
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(leftMs, pollIntervalMs))
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  } finally {
    unsubscribe()
  }
}

async function getStatus(app: App, release: { deploymentId: string; number: number }): Promise<Ended> {
  // A deployment that was deleted in the meantime cannot succeed.
  const deleted = { status: 'failed', reason: 'the deployment was deleted' } as const
  const { status, reason } = (await selectStatus(app.database.pool, release)) ?? deleted
  return { status, reason, ended: status !== 'in-progress' }
}
