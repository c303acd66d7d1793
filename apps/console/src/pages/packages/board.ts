import type { ResponseOf } from '@crux/contract'
import type { Action } from '../../components/Menu.tsx'

export type Board = ResponseOf<'packages.board'>
export type BoardEnvironment = Board['environments'][number]
export type BoardProject = Board['projects'][number]
export type BoardCell = BoardProject['cells'][number]
type BasicVersion = { id: string; name: string }

/** What a dialog is opened for: a project in an environment, with the version that is proposed. */
export type PromotionTarget = {
  chainId: string
  project: BoardProject['project']
  environment: Pick<BoardEnvironment, 'id' | 'name' | 'prefix' | 'node'>
  /** The latest one if absent. */
  versionId?: string
}

/** What the two forms of the board are given, the table and the cards. */
export type BoardViewProps = {
  teamSlug: string
  packageId: string
  board: Board
  /** Those that the search leaves. */
  projects: readonly BoardProject[]
  environmentActions: (all: readonly BoardEnvironment[], environment: BoardEnvironment) => readonly Action[]
  onPromote: (target: PromotionTarget) => void
}

/** The version that a cell offers: one that runs in the environment before it, or in the first one the latest of the chain. */
export type Offer =
  | { kind: 'promote'; version: BasicVersion; from: BoardEnvironment }
  | { kind: 'deploy'; version: BasicVersion }

export function findOffer(board: Board, project: BoardProject, cell: BoardCell): Offer | undefined {
  const position = board.environments.findIndex(({ id }) => id === cell.environmentId)
  const before = board.environments[position - 1]
  const offer: Offer | undefined =
    before && cell.newerBefore
      ? { kind: 'promote', version: cell.newerBefore, from: before }
      : position === 0 && project.latest && cell.running && project.latest.id !== cell.running.version.id
        ? { kind: 'deploy', version: project.latest }
        : undefined
  // It is on its way: a second start could only be refused.
  const isUnderWay = cell.latest?.status === 'in-progress' && cell.latest.version.id === offer?.version.id
  return isUnderWay ? undefined : offer
}

export const findCell = (project: BoardProject | undefined, environmentId: string): BoardCell | undefined =>
  project?.cells.find((cell) => cell.environmentId === environmentId)

/** The environments before this one in which a version runs, the nearest first: a promotion comes from there, also across columns. */
export function findSources(
  board: Board | undefined,
  target: Pick<PromotionTarget, 'chainId' | 'environment'>,
  versionId: string,
): BoardEnvironment[] {
  if (!board) return []
  const project = board.projects.find(({ chainId }) => chainId === target.chainId)
  const position = board.environments.findIndex(({ id }) => id === target.environment.id)
  return board.environments
    .slice(0, Math.max(position, 0))
    .filter(({ id }) => findCell(project, id)?.running?.version.id === versionId)
    .reverse()
}
