import type { DeploymentStatus } from '@crux/contract'
import type { App } from '../context.ts'
import { recordEvent } from '../system/index.ts'

/** A transaction's change of a deployment, published after the commit. */
export type DeploymentUpdate = {
  deploymentId: string
  teamId: string
  /** Present when the status changed. */
  status?: DeploymentStatus
  try?: number
  position?: number | undefined
}

/** Call after the commit: log and bus get the changes together. */
export function deploymentsChanged(app: Pick<App, 'log' | 'metrics' | 'bus'>, all: readonly DeploymentUpdate[]): void {
  for (const { deploymentId, teamId, status, try: number, position } of all) {
    if (status) {
      recordEvent(app, { deploymentId, status, try: number }, 'deployment status', `deployment ${status}`)
      app.bus.publish({ type: 'deployment.changed', teamId, deploymentId, status })
    }
    if (number !== undefined && position !== undefined)
      app.bus.publish({ type: 'deployment.events', deploymentId, try: number, position })
  }
}

/** Call after the commit: pages that show the deployment request its bundles again. */
export function bundlesChanged(app: Pick<App, 'log' | 'metrics' | 'bus'>, deploymentId: string, count: number): void {
  recordEvent(app, { deploymentId, count }, 'deployment carries other bundles')
  app.bus.publish({ type: 'deployment.bundles', deploymentId })
}
