import type { Deployment } from '@crux/contract'
import { deploymentAction } from '@crux/rules'

export type DeploymentReason = (action: Parameters<typeof deploymentAction>[0]) => string | null

/** The reasons why the state of a deployment prevents actions; null for an action that it allows. */
export function deploymentReasons({ status, version }: Pick<Deployment, 'status' | 'version'>): DeploymentReason {
  return (action) => {
    const verdict = deploymentAction(action, { status, versionType: version.type })
    return verdict.allowed ? null : verdict.reason
  }
}
