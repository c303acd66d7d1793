import type { Container } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiQuery } from '../../api/client.ts'
import { useChannel } from '../../api/live.ts'
import { nodeHost, type ServiceAddress, serviceAddresses } from './service-address.ts'

/** The list of containers shows the rest. */
export const shownAddresses = 3

/** Where the running containers of a deployment are reached, as the node reports them at this moment. */
export function useServiceAddresses(teamSlug: string, deploymentId: string, nodeId: string): ServiceAddress[] {
  const nodes = useQuery(apiQuery('nodes.list', { params: { teamSlug } }))
  const [containers, setContainers] = useState<readonly Container[]>([])
  useChannel(
    'node',
    { teamSlug, nodeId },
    {
      ready: (channel) => channel.send('watch-containers-state', { deploymentId }),
      'containers-state-list': (list) => setContainers(list.containers),
    },
  )
  const host = nodeHost(nodes.data?.find(({ id }) => id === nodeId)?.address, location.hostname)
  return containers
    .filter(({ state }) => state === 'running')
    .flatMap((container) => serviceAddresses(container, host))
    .sort((a, b) => Number(b.open) - Number(a.open))
}
