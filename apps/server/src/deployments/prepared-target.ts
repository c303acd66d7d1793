import type { App } from '../context.ts'
import type { DeploymentTarget } from './store.ts'

/**
 * A hint to the agent that a start is likely: it creates the prefix's network now, which is slow in the engine. An
 * agent that is unavailable, or connected to another server process, creates it at the start.
 */
export function prepareTarget(app: Pick<App, 'links'>, { teamId, projectId, nodeId, prefix }: DeploymentTarget): void {
  app.links.send(nodeId, { case: 'preparePrefix', value: { owner: { teamId, projectId, nodeId, prefix } } })
}

/** Withdraws the hint. The agent keeps what containers use. */
export function releaseTarget(app: Pick<App, 'links'>, { teamId, projectId, nodeId, prefix }: DeploymentTarget): void {
  app.links.send(nodeId, { case: 'releasePrefix', value: { owner: { teamId, projectId, nodeId, prefix } } })
}
