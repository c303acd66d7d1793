import { describe, expect, it } from 'vitest'
import { type Board, type BoardCell, findOffer, findSources } from './board.ts'

const at = '2026-01-15T12:00:00Z'
const version = (name: string) => ({ id: name, name, type: 'incremental' as const })
const environment = (name: string): Board['environments'][number] => ({
  id: name,
  name,
  prefix: name,
  node: {
    id: 'node',
    name: 'eu-1',
    type: 'docker',
    status: 'connected',
    description: null,
    icon: null,
  },
})
const runs = (environmentId: string, name: string, rest: Partial<BoardCell> = {}): BoardCell => ({
  environmentId,
  running: { version: version(name), deploymentId: 'd', releaseNumber: 1, deployedAt: at, deployedBy: 'Ada' },
  ...rest,
})
const board = (...cells: BoardCell[]): Board => ({
  environments: ['dev', 'staging', 'prod'].map(environment),
  projects: [
    {
      chainId: 'chain',
      project: { id: 'p', name: 'checkout', type: 'versioned' },
      latest: version('1.3.0'),
      cells,
    },
  ],
})
const offerIn = (shown: Board, position: number) => {
  const [project] = shown.projects
  const cell = project?.cells[position]
  return project && cell && findOffer(shown, project, cell)
}

describe('the offer of a cell of the board', () => {
  it('is the newer version that runs in the environment before', () => {
    const shown = board(runs('dev', '1.3.0'), runs('staging', '1.2.0', { newerBefore: version('1.3.0') }))
    expect(offerIn(shown, 1)).toMatchObject({ kind: 'promote', version: { id: '1.3.0' }, from: { name: 'dev' } })
  })

  it('is the latest version in the first environment, which has none before it', () => {
    expect(offerIn(board(runs('dev', '1.2.0')), 0)).toMatchObject({ kind: 'deploy', version: { id: '1.3.0' } })
    expect(offerIn(board(runs('dev', '1.3.0')), 0)).toBeUndefined()
    expect(offerIn(board({ environmentId: 'dev' }), 0)).toBeUndefined()
  })

  it('is absent while that version is being deployed there, and present while another one is', () => {
    const latest = (name: string): BoardCell['latest'] => ({
      deploymentId: 'd',
      version: version(name),
      status: 'in-progress',
      updatedAt: at,
    })
    const dev = runs('dev', '1.3.0')
    const staging = (name: string) => runs('staging', '1.1.0', { newerBefore: version('1.3.0'), latest: latest(name) })
    expect(offerIn(board(dev, staging('1.3.0')), 1)).toBeUndefined()
    expect(offerIn(board(dev, staging('1.2.0')), 1)).toBeDefined()
  })
})

describe('where a promoted version comes from', () => {
  const shown = board(runs('dev', '1.3.0'), runs('staging', '1.3.0'), runs('prod', '1.2.0'))
  const from = (name: string, versionId: string) =>
    findSources(shown, { chainId: 'chain', environment: environment(name) }, versionId).map(({ id }) => id)

  it('is the nearest environment before the target in which it runs', () => {
    expect(from('prod', '1.3.0')).toEqual(['staging', 'dev'])
    expect(from('staging', '1.3.0')).toEqual(['dev'])
  })

  it('may be more than one column away', () => {
    const skipped = board(runs('dev', '1.3.0'), runs('staging', '1.2.0'), runs('prod', '1.2.0'))
    const sources = findSources(skipped, { chainId: 'chain', environment: environment('prod') }, '1.3.0')
    expect(sources.map(({ id }) => id)).toEqual(['dev'])
  })

  it('is unknown for a version that runs in none of them, or only further on', () => {
    expect(from('prod', '1.0.0')).toEqual([])
    expect(from('dev', '1.2.0')).toEqual([])
    expect(from('gone', '1.3.0')).toEqual([])
  })
})
