import type { DeploymentStatus, NodeStatus, VersionType } from '@crux/contract'

/** Whether an action is allowed now, and the reason if not: the same sentence for the disabled button and the error. */
export type Verdict = { allowed: true } | { allowed: false; reason: string }
export type DeploymentAction = 'edit' | 'deploy' | 'delete' | 'copy' | 'cancel' | 'roll-back' | 'read-log'

const yes: Verdict = { allowed: true }
const no = (reason: string): Verdict => ({ allowed: false, reason })

/** Decides which actions are allowed in a status. The console disables buttons with the same table. */
export function deploymentAction(
  action: DeploymentAction,
  deployment: { status: DeploymentStatus; versionType: VersionType },
): Verdict {
  const { status, versionType } = deployment
  if (action === 'cancel') return status === 'in-progress' ? yes : no('Nothing is in progress')
  if (action === 'read-log') return status === 'preparing' ? no('It was never deployed') : yes
  if (status === 'in-progress') return no('A release is in progress: wait for its end or cancel it')
  switch (action) {
    case 'edit':
      if (status === 'obsolete') return no('A newer deployment took its place: copy it to change it')
      if (status === 'successful' && versionType === 'incremental')
        return no('An incremental version is fixed once deployed: increase the version or copy the deployment')
      return yes
    case 'deploy':
      if (status === 'successful' && versionType === 'incremental')
        return no('This version runs here already: increase the version to deploy something new')
      return yes
    case 'roll-back':
      return status === 'preparing' ? no('It was never deployed') : yes
    case 'delete':
    case 'copy':
      return yes
  }
}

type Facts = { status: DeploymentStatus; versionType: VersionType }
export const isMutable = (deployment: Facts): boolean => deploymentAction('edit', deployment).allowed
export const isDeployable = (deployment: Facts): boolean => deploymentAction('deploy', deployment).allowed
export const isDeletable = (deployment: Facts): boolean => deploymentAction('delete', deployment).allowed
export const isCopiable = (deployment: Facts): boolean => deploymentAction('copy', deployment).allowed

/** Whether a node accepts a deployment now. */
export function nodeTakesDeployments(node: { name: string; status: NodeStatus }): Verdict {
  switch (node.status) {
    case 'connected':
    // The release waits until the update has ended.
    case 'updating':
      return yes
    case 'unreachable':
      return no(`${node.name} is not connected`)
    case 'outdated':
      return no(`The agent of ${node.name} is outdated: update it first`)
  }
}

/** Whether the agent of a node changes containers and images outside of deployments now. It can be asked for them during an update too. */
export function nodeTakesCommands(node: { name: string; status: NodeStatus }): Verdict {
  switch (node.status) {
    case 'connected':
      return yes
    case 'updating':
      return no(`The agent of ${node.name} is being updated: try again when the update has ended`)
    case 'unreachable':
    case 'outdated':
      return nodeTakesDeployments(node)
  }
}

/** How long a node may be unavailable before a release on it counts as failed. */
export const leaseMs = 60_000
