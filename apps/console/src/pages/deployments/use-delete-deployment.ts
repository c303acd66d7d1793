import type { ApiError } from '@crux/client'
import type { DeletedPrefixData, Deployment } from '@crux/contract'
import { useState } from 'react'
import { queryKey, useCall } from '../../api/client.ts'
import type { ChosenData } from './prefix-data.ts'

type Options = { teamSlug: string; deployment: Deployment; done: string; onDeleted: () => void }

/**
 * Deletes a deployment, on request with its containers and with data that would stay. The deployment itself is deleted last: while data could
 * not be deleted it is still there, and everything may be repeated.
 */
export function useDeleteDeployment({ teamSlug, deployment, done, onDeleted }: Options) {
  const { id: deploymentId, node, prefix } = deployment
  const target = { teamSlug, nodeId: node.id, prefix }
  const [result, setResult] = useState<DeletedPrefixData | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  const containers = useCall('containers.delete-prefix', { toast: false })
  const data = useCall('prefix-data.delete', { toast: false, stale: [queryKey('prefix-data.get')] })
  const remove = useCall('deployments.delete', {
    stale: [
      queryKey('deployments.list'),
      queryKey('nodes.deployments'),
      queryKey('versions.get'),
      queryKey('nodes.get'),
    ],
    done,
    onSuccess: onDeleted,
  })
  const deleteDeployment = (withContainers: boolean) =>
    remove.mutate({ params: { teamSlug, deploymentId }, query: { containers: withContainers ? 'true' : 'false' } })
  async function deleteWithData(chosen: ChosenData) {
    setError(null)
    try {
      await containers.mutateAsync({ params: target })
      const deleted = await data.mutateAsync({ params: target, body: chosen })
      setResult(deleted)
      if (!hasKept(deleted)) deleteDeployment(true)
    } catch (cause) {
      setError(cause as ApiError)
    }
  }
  return {
    deleteDeployment,
    deleteWithData: (chosen: ChosenData) => void deleteWithData(chosen),
    /** What became of the data at the last attempt. */
    result,
    /** Why the last attempt ended before it reached the data, or in it. */
    error,
    /** What is being deleted: first the containers, then the data, and at last the deployment. */
    step: getStep({ containers, data, deployment: remove }),
    denied: remove.denied,
    /** Why data cannot be deleted. */
    deniedData: containers.denied ?? data.denied ?? remove.denied,
  }
}

type Step = 'containers' | 'data' | 'deployment'

const getStep = (calls: Record<Step, { isPending: boolean }>): Step | undefined =>
  (['containers', 'data', 'deployment'] as const).find((step) => calls[step].isPending)

const hasKept = ({ claims, namespace }: DeletedPrefixData): boolean =>
  claims.some(({ state }) => state === 'kept') || namespace?.state === 'kept'
