import type { DeploymentDrift, ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { apiQuery } from '../../api/client.ts'
import { useChannel } from '../../api/live.ts'
import { describeError, isStatus } from '../../errors/describe-error.ts'

/** A rollout changes its pods many times a second. */
const pauseMs = 4_000
/** Not every change of a cluster is one of a container. */
const refetchIntervalMs = 60_000

export interface ShownDrift {
  /** Undefined while nothing differs, and while nothing is known. */
  drift: (DeploymentDrift & { release: number }) | undefined
  /** Why the last comparison failed. */
  problem: string | undefined
}

/** What differs in a cluster from the deployment's release, as long as it is the one that runs; compared again when its containers change. */
export function useDrift(
  teamSlug: string,
  deployment: ResponseOf<'deployments.get'>,
  isConnected: boolean,
): ShownDrift {
  const { id, node, running, status } = deployment
  const isCompared =
    node.type === 'k8s' && isConnected && status !== 'in-progress' && running?.deploymentId === deployment.id
  const query = useQuery({
    ...apiQuery('deployments.drift', { params: { teamSlug, deploymentId: id } }),
    enabled: isCompared,
    retry: false,
    refetchInterval: refetchIntervalMs,
  })
  const { refetch } = query
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const refetchLater = () => {
    if (!isCompared || timer.current) return
    timer.current = setTimeout(() => {
      timer.current = undefined
      void refetch()
    }, pauseMs)
  }
  // The page's summary asks the same channel for the containers.
  useChannel('node', { teamSlug, nodeId: node.id }, { 'containers-state-list': refetchLater })
  const { data, error } = query
  if (!isCompared) return { drift: undefined, problem: undefined }
  // A release has begun, which the page is about to hear of.
  if (error) return { drift: undefined, problem: isBusy(error) ? undefined : describeError(error).text }
  const isShown = data !== undefined && data.release === running?.number && data.objects.length > 0
  return { drift: isShown ? { ...data, release: running.number } : undefined, problem: undefined }
}

const isBusy = (error: unknown): boolean => isStatus(error, 412) && error.property === 'status'
