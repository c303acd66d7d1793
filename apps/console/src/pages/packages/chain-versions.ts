import type { DeploymentStatus, ResponseOf } from '@crux/contract'
import { type Board, findSources, type PromotionTarget } from './board.ts'

export type Chain = ResponseOf<'packages.get-environment'>['versionChains'][number]

/** A version that can be chosen for an environment. */
export type ChainVersion = {
  id: string
  name: string
  isLatest: boolean
  /** Its containers run in this environment. */
  here: boolean
  /** The names of the environments before this one in which it runs, in their order. */
  runsIn: string[]
  /** Of its deployment here, where it neither runs nor was replaced. */
  status: DeploymentStatus | undefined
  deploymentId: string | undefined
}

/** The versions of a chain as they are offered: the latest first. */
export function listChainVersions(chain: Chain, board: Board | undefined, target: PromotionTarget): ChainVersion[] {
  return chain.versions
    .map(({ id, name, deployment }, position) => ({
      id,
      name,
      isLatest: position === chain.versions.length - 1,
      here: chain.running?.version.id === id && deployment?.status === 'successful',
      runsIn: findSources(board, target, id)
        .map((environment) => environment.name)
        .reverse(),
      status:
        deployment && deployment.status !== 'obsolete' && chain.running?.version.id !== id
          ? deployment.status
          : undefined,
      deploymentId: deployment?.id,
    }))
    .reverse()
}

/** The proposed version: the given one, else the latest, in both cases only if it can be chosen. */
export const proposeVersion = (versions: readonly ChainVersion[], wanted: string | undefined): string =>
  (versions.find(({ id, here }) => id === wanted && !here) ?? versions.find(({ here }) => !here))?.id ?? ''
