import type { NodeStatus } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { apiQuery } from '../../api/client.ts'
import { refetchIntervalMs } from '../deployments/DeploymentOutcome.tsx'
import type { Board } from './board.ts'

type Params = { teamSlug: string; packageId: string }

/** The board, polled as the lists of deployments are: often while a release is in progress. */
export const useBoard = (params: Params) =>
  useQuery({
    ...apiQuery('packages.board', { params }),
    refetchInterval: ({ state }) => refetchIntervalMs(state.data && listLatest(state.data)),
  })

const listLatest = ({ projects }: Board) =>
  projects.flatMap(({ cells }) => cells.flatMap(({ latest }) => (latest ? [latest] : [])))

type WithNode = { node: { id: string; status: NodeStatus } }

/** The statuses of nodes as the frame keeps them fresh; those of the given answer until the list of nodes is here. */
export function useLiveNodes<One extends WithNode>(teamSlug: string, environments: readonly One[]): One[] {
  const nodes = useQuery(apiQuery('nodes.list', { params: { teamSlug } })).data
  return environments.map((environment) => {
    const status = nodes?.find(({ id }) => id === environment.node.id)?.status
    return status ? { ...environment, node: { ...environment.node, status } } : environment
  })
}
